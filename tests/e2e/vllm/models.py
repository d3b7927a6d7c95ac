"""Builds, without training, the models that the suite serves. Runs in the engine's own environment.

python models.py random|copycat TOKENIZER_FOLDER NEW_FOLDER

`random`: two layers of noise. It wanders wherever the grammar lets it: the adversary of every constraint.
`copycat`: one attention layer that looks back exactly DISTANCE - 1 tokens and says what stands there, so that a test writes the
wanted turn into the prompt and a real engine generates it, with real tokens, stops, usage and grammar masks. The token of
STOP_MARK comes out as the end of the turn.
"""

import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoTokenizer, PreTrainedTokenizerBase, Qwen2Config, Qwen2ForCausalLM

DISTANCE = 1024
STOP_MARK = "◆"

HEAD = 64
CODE = 96
WIDTH = 2 * CODE
THETA = 10_000.0
# Query times key length: 26 squared over sqrt(64) puts about 88 nats between the wanted distance and its neighbours.
SHARPNESS = 26.0
# Logit of the right token over that of the luckiest wrong one: about 18.
CONTRAST = 0.35


def config(tokenizer: PreTrainedTokenizerBase, **sizes: int | bool | float) -> Qwen2Config:
    highest = max(tokenizer.get_vocab().values())
    return Qwen2Config(
        vocab_size=(highest // 128 + 1) * 128,
        max_position_embeddings=32_768,
        rope_theta=THETA,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **sizes,
    )


def random_model(tokenizer: PreTrainedTokenizerBase) -> Qwen2ForCausalLM:
    torch.manual_seed(7)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    return Qwen2ForCausalLM(config(tokenizer, num_attention_heads=2, num_key_value_heads=2, tie_word_embeddings=True, **sizes))


def look_back(distance: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Query and key biases whose score, once rotary positions are applied, peaks where the key is `distance` tokens back.

    A pair of dimensions is one complex number; position p turns it by p times the pair's speed. Equal keys and a query
    turned back beforehand by `distance` leave the same phase in every pair at that distance only.
    """
    speeds = THETA ** (-torch.arange(HEAD // 2, dtype=torch.double) * 2 / HEAD)
    query = torch.polar(torch.full_like(speeds, SHARPNESS), -distance * speeds)
    key = torch.full_like(query, SHARPNESS)
    return torch.cat([query.real, query.imag]).float(), torch.cat([key.real, key.imag]).float()


@torch.no_grad()
def copycat_model(tokenizer: PreTrainedTokenizerBase) -> Qwen2ForCausalLM:
    heads = WIDTH // HEAD
    sizes = {"hidden_size": WIDTH, "intermediate_size": 64, "num_hidden_layers": 1}
    model = Qwen2ForCausalLM(
        config(tokenizer, num_attention_heads=heads, num_key_value_heads=heads, tie_word_embeddings=False, **sizes)
    )
    for parameter in model.parameters():
        parameter.zero_()
    torch.manual_seed(11)
    codes = torch.randint(0, 2, (model.config.vocab_size, CODE)).float() * 2 - 1
    model.model.embed_tokens.weight[:, :CODE] = codes
    layer = model.model.layers[0]
    for norm in (layer.input_layernorm, layer.post_attention_layernorm, model.model.norm):
        norm.weight.fill_(1.0)
    # Queries and keys are the same at every place; only the distance tells places apart.
    query, key = look_back(DISTANCE - 1)
    layer.self_attn.q_proj.bias.copy_(query.repeat(heads))
    layer.self_attn.k_proj.bias.copy_(key.repeat(heads))
    # The value is the token's code; it lands in the upper half of the width, which the output reads.
    layer.self_attn.v_proj.weight[:CODE, :CODE] = torch.eye(CODE)
    layer.self_attn.o_proj.weight[CODE:, :CODE] = torch.eye(CODE)
    output = model.lm_head.weight
    output[:, CODE:] = codes * CONTRAST
    output[len(tokenizer) :] = 0
    (mark,) = tokenizer.encode(STOP_MARK, add_special_tokens=False)
    # The end of the turn answers to the mark and, as every token, to itself (a turn of the history is copied to its end).
    output[tokenizer.eos_token_id, CODE:] += codes[mark] * CONTRAST
    output[mark] = 0
    return model


def main() -> None:
    kind, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    target.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, target)
    tokenizer = AutoTokenizer.from_pretrained(target)
    model = {"random": random_model, "copycat": copycat_model}[kind](tokenizer)
    model.to(torch.bfloat16).save_pretrained(target)


if __name__ == "__main__":
    main()

"""All endpoints of this protocol, and where they answer."""

from collections.abc import Mapping

from gateway.middleware.asgi import App
from gateway.pipeline import Pipeline
from gateway.settings import Limits
from gateway.store import Store

from .compact import Compact
from .conversation_routes import ConversationItem, ConversationItems, CreateConversation, OneConversation
from .records import Records
from .routes import Create, InputTokens, Services
from .runs import Runs
from .socket import Socket
from .stored import Cancel, InputItems, One

PATH = "/v1/responses"
CONVERSATIONS = "/v1/conversations"


class Responses:
    """The endpoints by path, and the responses that run in the background, which `close` ends."""

    def __init__(self, pipeline: Pipeline, limits: Limits, store: Store) -> None:
        records = Records(store)
        self._runs = Runs(pipeline, records)
        services = Services(pipeline, limits, records, self._runs)
        self.socket: App = Socket(services)
        """Answers at PATH too, for clients that upgrade to a WebSocket."""
        self.endpoints: Mapping[str, App] = {
            PATH: Create(services),
            f"{PATH}/input_tokens": InputTokens(services),
            f"{PATH}/compact": Compact(services),
            f"{PATH}/{{response_id}}": One(services),
            f"{PATH}/{{response_id}}/cancel": Cancel(services),
            f"{PATH}/{{response_id}}/input_items": InputItems(services),
            CONVERSATIONS: CreateConversation(services),
            f"{CONVERSATIONS}/{{conversation_id}}": OneConversation(services),
            f"{CONVERSATIONS}/{{conversation_id}}/items": ConversationItems(services),
            f"{CONVERSATIONS}/{{conversation_id}}/items/{{item_id}}": ConversationItem(services),
        }

    async def close(self) -> None:
        """End what runs in the background."""
        await self._runs.close()

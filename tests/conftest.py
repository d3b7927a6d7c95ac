"""How properties are tried: the same examples in every run, and as long as they need."""

from hypothesis import HealthCheck, settings

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A machine with much else to do takes long for an example now and then."""

settings.register_profile("same", PATIENT, derandomize=True, database=None)
settings.register_profile("search", PATIENT)
settings.load_profile("same")

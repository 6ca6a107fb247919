"""Certificates: claims with proofs that `sequoia_verify`, which shares no code, can check."""

from sequoia.certificates.claims import action_certificate, bound_certificate, plan_certificate

__all__ = ["action_certificate", "bound_certificate", "plan_certificate"]

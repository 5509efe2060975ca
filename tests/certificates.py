"""Certificates for tests, made by openssl."""

import subprocess
from pathlib import Path


def make_certificate(directory: Path, name: str, signer: str | None = None) -> None:
    """Make a key and a certificate, in two files and in one, for this machine; self-signed or signed by another one."""
    file = directory / f"{name}.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    words += ["-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    words += ["-keyout", str(directory / f"{name}.key"), "-out", str(directory / f"{name}.crt")]
    if signer is not None:
        words += ["-CA", str(directory / f"{signer}.crt"), "-CAkey", str(directory / f"{signer}.key")]
        words += ["-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(words, check=True, capture_output=True)
    file.write_bytes((directory / f"{name}.key").read_bytes() + (directory / f"{name}.crt").read_bytes())

"""Certificates for tests, made by openssl."""

import subprocess
from pathlib import Path


def make_certificate(folder: Path, name: str, signer: str | None = None) -> None:
    """A key and a certificate, in two files and in one, for this machine; signed by itself or by another one."""
    file = folder / f"{name}.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    words += ["-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    words += ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
    if signer is not None:
        words += ["-CA", str(folder / f"{signer}.crt"), "-CAkey", str(folder / f"{signer}.key")]
        words += ["-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(words, check=True, capture_output=True)
    file.write_bytes((folder / f"{name}.key").read_bytes() + (folder / f"{name}.crt").read_bytes())

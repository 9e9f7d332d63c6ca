import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { onTestFinished } from "vitest";

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for `localhost`, signed by itself. @param days for how many it is good; below 0 it is expired */
export function makeCertificate(days = 2): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "reckon-certificate-"));
  const [key, request, cert] = ["key.pem", "request.pem", "cert.pem"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "ignore" });
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  openssl(
    "req",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    key,
    "-out",
    request,
    ...names,
  );
  openssl(
    "x509",
    "-req",
    "-in",
    request,
    "-signkey",
    key,
    "-days",
    `${days}`,
    "-copy_extensions",
    "copy",
    "-out",
    cert,
  );
  const pair = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true });
  return pair;
}

/** Trusts a certificate for the rest of a test, as NODE_EXTRA_CA_CERTS does for a process. */
export function trust({ cert }: Certificate): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, cert]);
  onTestFinished(() => setDefaultCACertificates(before));
}

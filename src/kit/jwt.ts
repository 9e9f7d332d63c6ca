import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { errors, exportJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { sha256 } from "./hash.ts";
import { fail, invalid } from "./problem.ts";

export const ALG = "RS256";
const MODULUS_BITS = 3072;

export interface SigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** SPKI, PEM. */
  readonly publicPem: string;
}

/** Makes an RSA-3072 key pair off the event loop. @returns the private key as PKCS#8 PEM */
export async function generateSigningPem(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: MODULUS_BITS });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

/** The name of a public RSA key: its thumbprint (RFC 7638). What asks for it cannot wait, as the library's own would have it. */
function thumbprint(key: KeyObject): string {
  const { e, kty, n } = key.export({ format: "jwk" });
  return sha256(JSON.stringify({ e, kty, n })).toString("base64url");
}

/** Whether a public key (SPKI, PEM) is the one of a name. */
export function isKeyOf(publicPem: string, kid: string): boolean {
  try {
    return thumbprint(createPublicKey(publicPem)) === kid;
  } catch {
    return false;
  }
}

/** Reads a private key. @throws Error when it is not an RSA key of at least 2048 bits */
export async function readSigningKey(pem: string): Promise<SigningKey> {
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== "rsa" || (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
    throw new Error("the signing key must be an RSA key of at least 2048 bits");
  const publicKey = createPublicKey(privateKey);
  return {
    kid: thumbprint(publicKey),
    privateKey,
    publicPem: publicKey.export({ type: "spki", format: "pem" }) as string,
  };
}

/** A public key as it stands in a JWK set (RFC 7517). */
export async function publicJwk(publicPem: string, kid: string): Promise<JWK> {
  return { ...(await exportJWK(createPublicKey(publicPem))), kid, alg: ALG, use: "sig" };
}

export interface Claims extends JWTPayload {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
}

/**
 * Signs claims as a compact JWS (RFC 7515).
 * @param typ explicit type (RFC 8725 section 3.11), so that one kind of token never passes for another
 * @param issuedAt seconds since the epoch; likewise expiresAt
 */
export function signJwt(
  key: SigningKey,
  typ: string,
  claims: Claims,
  issuedAt: number,
  expiresAt: number,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALG, typ, kid: key.kid })
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key.privateKey);
}

export interface Expected {
  readonly typ: string;
  readonly audience: string;
  readonly issuer?: string;
  /** The instant at which it must be valid. */
  readonly at: Date;
}

export type Verdict =
  | { readonly valid: true; readonly claims: JWTPayload }
  | { readonly valid: false; readonly claims: JWTPayload | null; readonly reason: string };

const KEY_BLOCK = /-----BEGIN (RSA )?PUBLIC KEY-----[^-]*-----END \1?PUBLIC KEY-----/g;

/**
 * Reads the public keys of a text in PEM form (RFC 7468), which may hold several.
 * @returns by RFC 7638 thumbprint, in the order of the text
 * @throws Problem when there is none, or one that cannot be read or is not RSA
 */
export async function readPublicKeys(pem: string): Promise<Map<string, KeyObject>> {
  const keys = new Map<string, KeyObject>();
  for (const [block] of pem.matchAll(KEY_BLOCK)) {
    let key: KeyObject | undefined;
    try {
      key = createPublicKey(block);
    } catch {
      // Reported below, in the same words as a key of another kind.
    }
    if (key?.asymmetricKeyType !== "rsa")
      fail(invalid, `public key ${keys.size + 1} of it cannot be read as an RSA key`);
    keys.set(thumbprint(key), key);
  }
  if (keys.size === 0) fail(invalid, "it holds no public key in PEM form");
  return keys;
}

/** The key that a token names as its signer's is none of those given. */
class UnknownKey extends Error {
  constructor(named: string | undefined, keys: ReadonlyMap<string, KeyObject>) {
    // The name comes from whoever made the token, so it is not trusted.
    const signer = named === undefined ? "no key" : /^[\w-]{1,64}$/.test(named) ? `the key ${named}` : "another key";
    const choice = keys.size === 1 ? "which is not this public key" : "which is none of these public keys";
    super(`the signature is said to be of ${signer}, ${choice} (${[...keys.keys()].join(", ")})`);
  }
}

/**
 * Judges a compact JWS with public keys alone. Algorithm, type, audience and, where given, issuer are pinned.
 * @param publicPem one public key or several (SPKI, PEM); the token's `kid` (RFC 7515 section 4.1.4) says which signed it
 * @throws Problem when the keys cannot be read
 */
export async function verifyJwt(token: string, publicPem: string, expected: Expected): Promise<Verdict> {
  const keys = await readPublicKeys(publicPem);
  const chooseKey = ({ kid }: { readonly kid?: string }) => {
    const key = kid === undefined ? undefined : keys.get(kid);
    if (!key) throw new UnknownKey(kid, keys);
    return key;
  };
  try {
    const { payload } = await jwtVerify(token, chooseKey, {
      algorithms: [ALG],
      typ: expected.typ,
      audience: expected.audience,
      ...(expected.issuer === undefined ? {} : { issuer: expected.issuer }),
      currentDate: expected.at,
      requiredClaims: ["exp", "iat", "sub"],
    });
    return { valid: true, claims: payload };
  } catch (error) {
    if (error instanceof UnknownKey) return { valid: false, claims: null, reason: error.message };
    if (error instanceof errors.JWTExpired)
      return { valid: false, claims: error.payload, reason: `expired at ${isoOf(error.payload.exp)}` };
    if (error instanceof errors.JWTClaimValidationFailed)
      return { valid: false, claims: error.payload, reason: `the claim "${error.claim}" is not the one expected` };
    if (error instanceof errors.JWSSignatureVerificationFailed)
      return { valid: false, claims: null, reason: "the signature does not match the public key" };
    if (error instanceof errors.JOSEAlgNotAllowed)
      return { valid: false, claims: null, reason: `only ${ALG} signatures are accepted` };
    if (error instanceof errors.JOSEError)
      return { valid: false, claims: null, reason: "this is not a signed licence (compact JWS expected)" };
    throw error;
  }
}

const isoOf = (seconds: number | undefined) =>
  seconds === undefined ? "an unknown time" : new Date(seconds * 1000).toISOString();

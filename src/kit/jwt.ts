import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { calculateJwkThumbprint, errors, exportJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";

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

/** Reads a private key. @throws Error when it is not an RSA key of at least 2048 bits */
export async function readSigningKey(pem: string): Promise<SigningKey> {
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== "rsa" || (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
    throw new Error("the signing key must be an RSA key of at least 2048 bits");
  const publicKey = createPublicKey(privateKey);
  return {
    kid: await calculateJwkThumbprint(await exportJWK(publicKey)),
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

/** Judges a compact JWS with a public key alone. Algorithm, type, audience and, where given, issuer are pinned. */
export async function verifyJwt(token: string, publicPem: string, expected: Expected): Promise<Verdict> {
  try {
    const { payload } = await jwtVerify(token, createPublicKey(publicPem), {
      algorithms: [ALG],
      typ: expected.typ,
      audience: expected.audience,
      ...(expected.issuer === undefined ? {} : { issuer: expected.issuer }),
      currentDate: expected.at,
      requiredClaims: ["exp", "iat", "sub"],
    });
    return { valid: true, claims: payload };
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      return { valid: false, claims: error.payload, reason: `expired at ${isoOf(error.payload.exp)}` };
    if (error instanceof errors.JWTClaimValidationFailed)
      return { valid: false, claims: error.payload, reason: `the claim "${error.claim}" is not the one expected` };
    if (error instanceof errors.JWSSignatureVerificationFailed)
      return { valid: false, claims: null, reason: "the signature does not match this public key" };
    if (error instanceof errors.JOSEAlgNotAllowed)
      return { valid: false, claims: null, reason: `only ${ALG} signatures are accepted` };
    if (error instanceof errors.JOSEError)
      return { valid: false, claims: null, reason: "this is not a signed licence (compact JWS expected)" };
    throw error;
  }
}

const isoOf = (seconds: number | undefined) =>
  seconds === undefined ? "an unknown time" : new Date(seconds * 1000).toISOString();

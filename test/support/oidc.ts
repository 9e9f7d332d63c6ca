import { createServer } from "node:http";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import Provider, { type Configuration } from "oidc-provider";
// @ts-expect-error It has no types of its own.
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";

/** Issuers of OpenID Connect on loopback, and a browser that goes to them and back. */

interface Claims {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface TestIssuer {
  readonly url: string;
  /** `HOST:PORT`, as RECKON_OUTBOUND lists it. */
  readonly host: string;
  /** What it says of people, by subject; change it at will. */
  readonly people: Map<string, Claims>;
  /** Who signs in there next. */
  subject: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

export const CLIENT = { id: "reckon", secret: "a-secret-of-the-client-0123456789" };

const signingKey = async (kid: string): Promise<JWK> => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
};

/**
 * A real issuer, which signs in whoever `subject` names without a question.
 * @param more claims: whether they stand in the ID token, or are told only when asked
 */
export async function startIssuer(
  redirectUris: readonly string[],
  more: { tokenClaims?: boolean } = {},
): Promise<TestIssuer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const people = new Map<string, Claims>();
  const asked: string[] = [];
  const issuer: TestIssuer = { url, host: `127.0.0.1:${port}`, people, subject: "", asked, close: async () => {} };
  let served: (request: never, response: never) => void = () => {};
  const provider = new Provider(url, await configuration(people, redirectUris, more.tokenClaims ?? true));
  provider.on("server_error", (_, error) => console.error(error));
  served = provider.callback() as never;
  const server = createServer(async (request, response) => {
    asked.push(String(request.url).replace(/\?.*/, ""));
    if (!request.url?.startsWith("/interaction/")) return served(request as never, response as never);
    const details = await provider.interactionDetails(request, response);
    const { grant, accountId } = {
      grant: new provider.Grant({ accountId: issuer.subject, clientId: CLIENT.id }),
      accountId: issuer.subject,
    };
    grant.addOIDCScope("openid email profile groups");
    const result =
      details.prompt.name === "login"
        ? { login: { accountId, remember: false } }
        : { consent: { grantId: await grant.save() } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return Object.assign(issuer, { close });
}

async function configuration(
  people: ReadonlyMap<string, Claims>,
  redirectUris: readonly string[],
  tokenClaims: boolean,
): Promise<Configuration> {
  return {
    adapter: KeepsNothing as never,
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [...redirectUris],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    clientAuthMethods: ["client_secret_post", "none"],
    jwks: { keys: [await signingKey("first")] } as never,
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    scopes: ["openid", "email", "profile"],
    conformIdTokenClaims: !tokenClaims,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    cookies: { keys: ["a-key-of-the-test"] },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 60, Session: 60, Grant: 60 },
    findAccount: (_, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...(people.get(subject) as object) }),
    }),
  };
}

/** A class of another name, so that the provider does not warn each time. */
class KeepsNothing extends MemoryAdapter {}

/** What a forger changes about an answer. */
export interface Forgery {
  readonly claims?: (claims: JWTPayload) => JWTPayload;
  /** Signs with another key than the one it publishes. */
  readonly foreignKey?: true;
  /** No signature, `alg` none. */
  readonly unsigned?: true;
  /** HMAC with the client's own secret. */
  readonly hmac?: true;
  /** Codes are redeemed once this has settled. */
  readonly held?: Promise<void>;
}

/** An issuer of our own, which answers as it is told to: what a real one never says. */
export async function startForger(): Promise<
  TestIssuer & { forgery: Forgery; readonly mostRedeeming: number; rotate(): Promise<void> }
> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let key = await generateKeyPair("RS256", { extractable: true });
  const other = await generateKeyPair("RS256");
  let kid = 1;
  const codes = new Map<string, { nonce: string; clientId: string }>();
  const state = {
    url,
    host: `127.0.0.1:${port}`,
    people: new Map<string, Claims>(),
    subject: "",
    asked: [] as string[],
    forgery: {} as Forgery,
    redeeming: 0,
    mostRedeeming: 0,
  };
  const idToken = async ({ nonce, clientId }: { nonce: string; clientId: string }) => {
    const now = Math.floor(Date.now() / 1_000);
    const plain = {
      iss: url,
      aud: clientId,
      sub: state.subject,
      iat: now,
      exp: now + 60,
      nonce,
      ...state.people.get(state.subject),
    };
    const claims = state.forgery.claims?.(plain) ?? plain;
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    if (state.forgery.unsigned) return `${encode({ alg: "none" })}.${encode(claims)}.`;
    if (state.forgery.hmac)
      return new SignJWT(claims as JWTPayload).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(CLIENT.secret));
    return new SignJWT(claims as JWTPayload)
      .setProtectedHeader({ alg: "RS256", kid: String(kid) })
      .sign(state.forgery.foreignKey ? other.privateKey : key.privateKey);
  };
  const server = createServer(async (request, response) => {
    const asked = new URL(String(request.url), url);
    state.asked.push(asked.pathname);
    const json = (body: unknown, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (asked.pathname === "/.well-known/openid-configuration")
      return json({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        token_endpoint_auth_methods_supported: ["client_secret_post"],
      });
    if (asked.pathname === "/jwks")
      return json({ keys: [{ ...(await exportJWK(key.publicKey)), kid: String(kid), alg: "RS256", use: "sig" }] });
    if (asked.pathname === "/authorize") {
      const code = `code-${codes.size}`;
      codes.set(code, {
        nonce: asked.searchParams.get("nonce") ?? "",
        clientId: asked.searchParams.get("client_id") ?? "",
      });
      const back = new URL(asked.searchParams.get("redirect_uri") as string);
      back.search = new URLSearchParams({ code, state: asked.searchParams.get("state") ?? "" }).toString();
      response.writeHead(302, { location: back.href });
      return response.end();
    }
    if (asked.pathname === "/token") {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      state.mostRedeeming = Math.max(state.mostRedeeming, ++state.redeeming);
      await state.forgery.held;
      state.redeeming--;
      const code = new URLSearchParams(Buffer.concat(parts).toString()).get("code") ?? "";
      const found = codes.get(code);
      codes.delete(code);
      if (!found) return json({ error: "invalid_grant" }, 400);
      return json({ access_token: "a", token_type: "Bearer", id_token: await idToken(found) });
    }
    return json({}, 404);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  const rotate = async () => {
    key = await generateKeyPair("RS256", { extractable: true });
    kid++;
  };
  return Object.assign(state, { close, rotate });
}

/** A browser without pages: keeps cookies by host and path, follows redirects, and tells where it came to. */
export class Jar {
  readonly #cookies = new Map<string, Map<string, string>>();

  cookiesOf(url: string): string {
    return [...(this.#cookies.get(new URL(url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** One request; a redirect is not followed. */
  async ask(url: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { ...headers, cookie: this.cookiesOf(url), ...(form ? { "sec-fetch-site": "same-origin" } : {}) },
      ...(form ? { method: "POST", body: new URLSearchParams(form) } : {}),
    });
    const { host } = new URL(url);
    const kept = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, kept);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0\b/i.test(line)) kept.delete(name);
      else kept.set(name, value);
    }
    return response;
  }

  /** Goes on until a page, or until an address begins with `stop`, which is not asked for. */
  async go(
    url: string,
    stop?: string,
  ): Promise<{ readonly url: string; readonly status: number; readonly text: string }> {
    let at = url;
    for (let i = 0; i < 20; i++) {
      const response = await this.ask(at);
      const location = response.headers.get("location");
      if (location === null) return { url: at, status: response.status, text: await response.text() };
      at = new URL(location, at).href;
      if (stop !== undefined && at.startsWith(stop)) return { url: at, status: 0, text: "" };
    }
    throw new Error(`too many redirects from ${url}`);
  }
}

import { createPublicKey } from "node:crypto";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import * as client from "openid-client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { decideAuthorization, getAuthorization } from "../../src/identity/device-flow/device-flow.ts";
import { verifyJwt } from "../../src/kit/jwt.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { person } from "../support/cli.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

/** An ordinary OAuth client, told nothing but the address, against a server on a real socket. */

const CLIENT_ID = "some-tool";

interface Deployment {
  readonly t: TestInstance;
  readonly issuer: URL;
  /** Every request that reached the server, as method and path. */
  readonly asked: string[];
}

async function direct(): Promise<Deployment> {
  const t = await startInstance({ settings: { port: "0" } });
  return { t, issuer: new URL(await t.instance.listen()), asked: [] };
}

/** Behind a reverse proxy that serves it under a sub-path, and adds where the request came from. */
async function behindProxy(subPath: string): Promise<Deployment> {
  const asked: string[] = [];
  let upstream = 0;
  const proxy = createServer((incoming: IncomingMessage, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const onward = request(
      {
        host: "127.0.0.1",
        port: upstream,
        method: incoming.method,
        path: incoming.url,
        headers: { ...incoming.headers, "x-forwarded-for": "198.51.100.7" },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode as number, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const issuer = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${subPath}`;
  const t = await startInstance({ settings: { port: "0", baseUrl: issuer, trustedProxies: "127.0.0.1" } });
  await t.instance.listen();
  upstream = t.instance.core.config.port;
  return { t, issuer: new URL(issuer), asked };
}

const discover = (issuer: URL) =>
  client.discovery(issuer, CLIENT_ID, undefined, client.None(), {
    algorithm: "oauth2",
    execute: [client.allowInsecureRequests],
  });

/**
 * Lets the client's waits and the server's clock pass together, as fast as both allow.
 * @param before told of each step of a wait (five seconds at most), with the seconds that have passed
 */
async function passing<T>(
  t: TestInstance,
  work: () => Promise<T>,
  before: (seconds: number) => unknown = () => {},
): Promise<T> {
  const started = t.clock.monotonic();
  const waits: { readonly ms: number; readonly over: () => void }[] = [];
  const real = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(((over: () => void, ms = 0) => {
    // The server's own timers run as they are: its jobs, too, wait whole seconds.
    if (!new Error().stack?.includes("openid-client")) return real(over, ms);
    waits.push({ ms, over });
  }) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  let over = false;
  const done = work().finally(() => {
    over = true;
  });
  // A rejection is for whoever awaits `done`; until then it must not count as unhandled.
  done.catch(() => {});
  while (!over) {
    await new Promise(setImmediate);
    const next = waits.shift();
    if (!next) continue;
    await before((t.clock.monotonic() - started) / 1000);
    t.clock.advance(next.ms);
    next.over();
  }
  spy.mockRestore();
  return done;
}

async function signIn(deployment: Deployment) {
  const { t, issuer } = deployment;
  const user = await person(t);
  const config = await discover(issuer);
  const started = await client.initiateDeviceAuthorization(config, { scope: "openid" });
  expect(started.verification_uri).toBe(`${issuer.href.replace(/\/$/, "")}/login/device`);
  const tokens = await passing(
    t,
    () => client.pollDeviceAuthorizationGrant(config, started),
    (seconds) => {
      if (seconds === 10)
        return decideAuthorization(t.instance.core, started.user_code, "approved", user, COMMAND_LINE);
    },
  );
  return { config, user, tokens };
}

describe("an OAuth client that knows the address alone", () => {
  it("signs in: discovery, a form for the codes, polls until a person has approved", async () => {
    const deployment = await direct();
    const { t } = deployment;
    const { config, user, tokens } = await signIn(deployment);
    expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 2_592_000 });
    const { jwks_uri } = config.serverMetadata();
    const { keys } = (await (await fetch(jwks_uri as string)).json()) as { keys: object[] };
    const pem = createPublicKey({ key: keys[0] as never, format: "jwk" }).export({
      type: "spki",
      format: "pem",
    }) as string;
    const issuer = config.serverMetadata().issuer;
    const at = new Date(t.clock.now());
    expect(await verifyJwt(tokens.access_token, pem, { typ: "at+jwt", audience: issuer, issuer, at })).toMatchObject({
      valid: true,
      claims: { sub: user.id },
    });
    const me = await client.fetchProtectedResource(
      config,
      tokens.access_token,
      new URL("/api/cli/me", deployment.issuer),
      "GET",
    );
    expect(await me.json()).toEqual({ userId: user.id, email: user.email });
    // Two polls while nobody had answered, one after.
    expect(t.log.filter((line) => line.includes("cliDeviceToken"))).toHaveLength(3);
  });

  it("signs in under a sub-path behind a proxy: metadata where RFC 8414 puts it, the person's address seen through", async () => {
    const deployment = await behindProxy("/deep/sub");
    const { t, asked } = deployment;
    const { user } = await signIn(deployment);
    expect(asked.slice(0, 3)).toEqual([
      "GET /.well-known/oauth-authorization-server/deep/sub",
      "POST /deep/sub/api/cli/device/code",
      "POST /deep/sub/api/cli/device/token",
    ]);
    expect(
      t.rows("SELECT a.ip AS asked, k.ip AS fetched, k.user_id FROM device_authorizations a, cli_tokens k"),
    ).toEqual([{ asked: "198.51.100.7", fetched: "198.51.100.7", user_id: user.id }]);
  });

  it("obeys when it is told to slow down, and signs in all the same", async () => {
    const { t, issuer } = await direct();
    const user = await person(t);
    const config = await discover(issuer);
    const started = await client.initiateDeviceAuthorization(config, {});
    const answers: string[] = [];
    config[client.customFetch] = async (url, options) => {
      const response = await fetch(url, options as RequestInit);
      answers.push(((await response.clone().json()) as { error?: string }).error ?? "token");
      return response;
    };
    // The tool's clock runs fast: it waits four seconds instead of five, and nine once it is told to slow down.
    const tokens = await passing(
      t,
      () => client.pollDeviceAuthorizationGrant(config, { ...started, interval: 4 }),
      (seconds) => {
        if (seconds === 8)
          return decideAuthorization(t.instance.core, started.user_code, "approved", user, COMMAND_LINE);
      },
    );
    expect(answers).toEqual(["authorization_pending", "slow_down", "token"]);
    expect(tokens.expires_in).toBe(2_592_000);
    expect(t.count("cli_tokens")).toBe(1);
  });

  it("learns of a denial", async () => {
    const { t, issuer } = await direct();
    const config = await discover(issuer);
    const started = await client.initiateDeviceAuthorization(config, {});
    const refused = await passing(
      t,
      () => client.pollDeviceAuthorizationGrant(config, started),
      (seconds) => {
        if (seconds === 5) return decideAuthorization(t.instance.core, started.user_code, "denied", null, COMMAND_LINE);
      },
    ).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(client.ResponseBodyError);
    expect(refused).toMatchObject({ status: 400, error: "invalid_grant" });
    expect(t.count("cli_tokens")).toBe(0);
  });

  it("learns that nobody answered in time", async () => {
    const { t, issuer } = await direct();
    const config = await discover(issuer);
    const started = await client.initiateDeviceAuthorization(config, {});
    t.clock.advance(890_000);
    expect(getAuthorization(t.instance.core, started.user_code).userCode).toBe(started.user_code);
    const refused = await passing(t, () => client.pollDeviceAuthorizationGrant(config, started)).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ status: 400, error: "expired_token" });
    expect(t.clock.monotonic()).toBe(900_000);
  });
});

import createClient from "openapi-fetch";
import type { paths } from "../../dist/client/api.ts";

/**
 * What somebody writes who knows nothing of us but the OpenAPI document: every path, parameter, body and member below is
 * checked against the types that were generated from it. Apart from the other tests, because those types exist only in a run.
 */
export interface Given {
  readonly baseUrl: string;
  readonly code: string;
  readonly readToken: string;
  /** Answers a device authorization, as a person would. */
  approve(userCode: string): Promise<void>;
  /** Lets the seconds pass that a poll must wait. */
  wait(seconds: number): Promise<void>;
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** The data of a success; a failure ends the flow with what the server said. */
function must<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
  return data;
}

export async function flow({ baseUrl, code, readToken, approve, wait }: Given) {
  const api = createClient<paths>({ baseUrl });
  const health = must(await api.GET("/api/health"));

  const bound = must(
    await api.POST("/api/connect/exchange", { body: { code, consent: { version: "1", deviceLabel: "generated" } } }),
  );
  const first = bearer(bound.deviceToken);
  const told = must(
    await api.POST("/api/telemetry/ingest", {
      ...first,
      body: { repoKey: "shop", entries: [{ seq: 1, payload: { type: "prompt", text: "Fix the login test" } }] },
    }),
  );
  const beat = must(await api.POST("/api/telemetry/heartbeat", first));
  const kept = must(
    await api.POST("/api/brain/ingest", {
      ...first,
      body: { version: 1, repoKey: "shop", files: [{ path: "errors.md", content: "## Login loop\n\nThe cookie.\n" }] },
    }),
  );
  const traced = must(
    await api.POST("/api/agent-traces/ingest", { ...first, body: { sessions: [{ outcome: "done", spans: [] }] } }),
  );
  const found = must(await api.GET("/api/brain/search", { ...first, params: { query: { q: "cookie" } } }));
  const asked = must(
    await api.GET("/api/me/brain/context", {
      ...bearer(readToken),
      params: { query: { q: "the cookie?", limit: 5 } },
    }),
  );
  const policy = must(await api.GET("/api/policy", first));
  const license = must(await api.GET("/api/license", first));
  const pubkey = must(await api.GET("/api/license/pubkey"));

  const rotated = must(await api.POST("/api/connect/rotate", first));
  const again = await api.POST("/api/connect/rotate", first);
  const second = bearer(rotated.deviceToken);
  const ended = must(await api.POST("/api/connect/disconnect", second));
  const refused = await api.GET("/api/policy", second);

  const waiting = must(await api.POST("/api/cli/device/code", { body: { channel: "npm" } }));
  const poll = () => api.POST("/api/cli/device/token", { body: { device_code: waiting.device_code } });
  const pending = await poll();
  await approve(waiting.user_code);
  await wait(waiting.interval);
  const signedIn = must(await poll());
  const me = must(await api.GET("/api/cli/me", bearer(signedIn.access_token)));

  const request = must(await api.POST("/api/requests/ingest", { body: { text: "Search whole phrases." } }));
  const status = must(await api.GET("/api/requests/status", { params: { query: { ids: request.id } } }));
  const marketplace = must(await api.GET("/api/marketplace/public"));
  const explore = must(await api.GET("/api/explore"));
  const latest = await api.GET("/api/download/latest", { params: { query: { platform: "win32" } } });

  return {
    health: health.status,
    bound: bound.status,
    told: [told.accepted, told.maxSeq, told.flagged],
    beat: beat.ok,
    kept: [kept.version, kept.files],
    traced: traced.sessions,
    found: found.hits.map((hit) => hit.filePath),
    asked: asked.hits.map((hit) => hit.heading),
    policy: policy.captureMode,
    license: [license.status, license.license.split(".").length, pubkey.alg],
    again: again.error && "reason" in again.error ? again.error.reason : undefined,
    ended: ended.revoked,
    refused: refused.response.status,
    pending: pending.error?.error,
    me: me.email,
    status: status.statuses.map((one) => one.status),
    marketplace: marketplace.total,
    explore: Object.keys(explore).sort(),
    latest: latest.error && "download" in latest.error ? latest.error.error : undefined,
  };
}

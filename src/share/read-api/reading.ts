import type * as v from "valibot";
import type { Core } from "../../core.ts";
import { type ApiPrincipal, apiToken, recordApiRead, teamRead } from "../../identity/api-tokens/api-tokens.ts";
import { withoutHalves } from "../../kit/json.ts";
import { notFound } from "../../kit/problem.ts";
import { type Endpoint, type EndpointSpec, endpoint, Reply, type Schema } from "../../platform/http/endpoint.ts";
import { openCursor, sealCursor } from "./cursors.ts";
import { render } from "./verbatim.ts";

/** What is asked of every endpoint's query. */
interface AnyQuery {
  readonly team?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** A request for a team's records. */
interface ReadCall<Q> {
  readonly core: Core;
  readonly teamId: string;
  readonly query: Q;
  readonly params: Readonly<Record<string, string>>;
  readonly limit: number | undefined;
  /** Where the page begins, as the list itself spells it; undefined for the first. */
  readonly place: string | undefined;
  /** Spells where the next page begins. */
  next(place: string | undefined): string | null;
}

interface ReadSpec<Q extends Schema, R extends Schema> {
  readonly id: string;
  readonly path: `/api/${string}`;
  readonly numbered?: boolean;
  readonly summary: string;
  readonly query: Q;
  readonly ok: R;
  readonly example: NonNullable<EndpointSpec<ApiPrincipal, Q, undefined, R>["example"]>;
}

/** What all endpoints of the read API have in common. */
export const COMMON = {
  method: "GET",
  tag: "Read API",
  auth: apiToken,
  errorShape: "canonical",
  limits: [{ name: "api", quota: (config) => config.limitApi, per: "token", headers: "limited" }],
} as const satisfies Partial<EndpointSpec<ApiPrincipal, undefined, undefined, Schema>>;

/** Declares an endpoint that reads a team's records. Each read is counted before it is answered. */
export function reading<Q extends v.GenericSchema<AnyQuery, AnyQuery>, R extends Schema>(
  spec: ReadSpec<Q, R>,
  read: (call: ReadCall<v.InferOutput<Q>>) => object | Promise<object>,
): Endpoint {
  return endpoint<R, ApiPrincipal, Q>(
    { ...COMMON, ...spec, faults: [notFound] },
    async ({ core, principal, query: parsed, params }) => {
      const query = parsed as v.InferOutput<Q>;
      const { team, limit, cursor, ...filters } = query as AnyQuery;
      const teamId = teamRead(core, principal.teamId, team);
      const of = { operation: spec.id, teamId, filters: { ...filters, ...params } };
      const found = await read({
        core,
        teamId,
        query,
        params,
        limit: limit ? Number(limit) : undefined,
        place: cursor === undefined ? undefined : openCursor(of, cursor),
        next: (place) => (place === undefined ? null : sealCursor(of, place)),
      });
      await recordApiRead(core, principal, spec.id);
      const body = { ok: true, ...found };
      return new Reply(body as v.InferInput<R>, { content: withoutHalves(render(body)) });
    },
  );
}

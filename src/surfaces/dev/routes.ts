import type * as v from "valibot";
import type { Declared } from "./route.ts";
import { authorizations } from "./route-authorizations.ts";
import { clockRoutes } from "./route-clock.ts";
import { credentialRoutes } from "./route-credentials.ts";
import { faultRoutes } from "./route-faults.ts";
import { journalRoutes } from "./route-journal.ts";
import { releasesRoute } from "./route-releases.ts";
import { requestsRoute } from "./route-requests.ts";
import { resetRoute } from "./route-reset.ts";
import { stateRoute } from "./route-state.ts";
import { teamRoute } from "./route-team.ts";

export interface ControlRoute extends Omit<Declared, "handle" | "body"> {
  readonly body?: v.GenericSchema;
  readonly pattern: RegExp;
  readonly handle: (call: {
    local: unknown;
    body: unknown;
    query: URLSearchParams;
    id: string;
  }) => object | Promise<object>;
}

const index: Declared = {
  method: "GET",
  path: "/_dev",
  says: "this list",
  handle: ({ local }) => ({
    about:
      "Control routes of a local instance; a server has none of them. The API itself is described at /openapi.json.",
    baseUrl: local.credentials.baseUrl,
    routes: ALL.map(({ method, path, says, example }) => ({ method, path, says, ...(example ? { example } : {}) })),
  }),
};

const ALL: readonly Declared[] = [
  index,
  stateRoute,
  ...clockRoutes,
  authorizations,
  teamRoute,
  ...credentialRoutes,
  releasesRoute,
  requestsRoute,
  ...faultRoutes,
  ...journalRoutes,
  resetRoute,
];

/** Every control route. */
export const ROUTES: readonly ControlRoute[] = ALL.map((one) => ({
  ...one,
  pattern: new RegExp(`^${one.path.replace(":id", "([^/]+)")}/?$`),
})) as never;

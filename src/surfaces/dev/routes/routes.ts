import { authorizations } from "./authorizations.ts";
import { clockRoutes } from "./clock.ts";
import { credentialRoutes } from "./credentials.ts";
import { faultRoutes } from "./faults.ts";
import { journalRoutes } from "./journal.ts";
import { releasesRoute } from "./releases.ts";
import { requestsRoute } from "./requests.ts";
import { resetRoute } from "./reset.ts";
import type { Declared } from "./route.ts";
import { stateRoute } from "./state.ts";
import { teamRoute } from "./team.ts";

export interface ControlRoute extends Declared {
  readonly pattern: RegExp;
}

const index: Declared = {
  method: "GET",
  path: "/_dev",
  description: "this list",
  handle: ({ local }) => ({
    about:
      "Control routes of a local instance; a server has none of them. The API itself is described at /openapi.json.",
    baseUrl: local.credentials.baseUrl,
    routes: ALL.map(({ method, path, description, example }) => ({
      method,
      path,
      says: description,
      ...(example ? { example } : {}),
    })),
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
export const ROUTES: readonly ControlRoute[] = ALL.map((route) => ({
  ...route,
  pattern: new RegExp(`^${route.path.replace(":id", "([^/]+)")}/?$`),
}));

const rateHeader = (description: string) => ({ description, schema: { type: "integer", minimum: 0 } });
/** The schema of the version, named so that generators name it once: they would call it by the parameter, and by the header. */
export const API_VERSION = { $ref: "#/components/schemas/ApiVersion" };

/** Headers of replies, as components of the API's document. */
export const HEADERS = {
  ServiceApiVersion: { description: "The API version that served the request.", schema: API_VERSION },
  RateLimitLimit: rateHeader("Requests of the quota nearest exhaustion."),
  RateLimitRemaining: rateHeader("Requests left in it."),
  RateLimitReset: rateHeader("Seconds until it is whole again."),
  RateLimitPolicy: {
    description: "Every quota, as `<name>;q=<quota>;w=<window seconds>`.",
    schema: { type: "string" },
  },
  RetryAfter: { description: "Seconds to wait before trying again.", schema: { type: "integer", minimum: 1 } },
  WwwAuthenticate: {
    description: 'Bearer; with error="invalid_token" when a token was sent.',
    schema: { type: "string" },
  },
  ETag: { description: "Entity tag for If-None-Match.", schema: { type: "string" } },
};

/** Refers to one of them. */
export const header = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
/** Of every reply. */
export const VERSION = { "Service-Api-Version": header("ServiceApiVersion") };
/** Of replies that say what is left of the quotas. */
export const RATE = {
  "RateLimit-Limit": header("RateLimitLimit"),
  "RateLimit-Remaining": header("RateLimitRemaining"),
  "RateLimit-Reset": header("RateLimitReset"),
  "RateLimit-Policy": header("RateLimitPolicy"),
};

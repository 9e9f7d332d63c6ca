/** Names whose own words say that their value is a secret. */

/** Longest name looked at, in code units. */
export const NAME_CAP = 64;

/** Services whose keys bear no mark of their own, so that only the service's name tells what `…_KEY` holds. */
const SERVICES =
  "algolia|amplitude|anthropic|apify|assemblyai|auth0|azure|binance|bitfinex|bitmex|braintree|bugsnag|chartmogul|clarifai|clockify|cloudflare|cloudconvert|cloudinary|cloudsmith|codemagic|cohere|coinbase|convertkit|coveralls|cryptocompare|currencylayer|datadog|deepgram|deepseek|etherscan|fastly|freshdesk|gemini|geocodio|giphy|fal|github|gitlab|godaddy|graphhopper|groq|heroku|hubspot|ibm|ibm[_-]iam|ibm[_-]cloud|cloud[_-]iam|infura|intercom|ipinfo|jira|kraken|kucoin|launchdarkly|logdna|loggly|mailchimp|mailgun|mandrill|mapbox|messagebird|mistral|mixpanel|netlify|newrelic|nexmo|okta|openai|opsgenie|pagerduty|pendo|pipedrive|pinata|postmark|rapidapi|rollbar|scraperapi|scrapingbee|sendgrid|sentry|serpapi|shodan|shopify|softlayer|solarwinds|cloudant|sparkpost|stripe|twilio|twitch|typesense|uploadcare|virustotal|vonage|youtube|zendesk";
const NAME = new RegExp(
  `(?:passw(?:or)?d|passphrase|passcode|pwd|secret|credentials?|authorization|(?:${SERVICES}|sdk|api|access|secret|private|auth|authentication|encryption|signing|signature|account|master|service|license|licence|shared|admin|root|app|application|client|subscription|storage|ssh|webhook|preshared|pre-shared|pre_shared)[_.-]?key|token)(?:[_.-]?(?:base64|b64|base|value|val|plain|plaintext|raw|prod|production|dev|development|stag|staging|live|old|new|[0-9]{1,2}))?$`,
  "i",
);
const PASS = /(?:^|[^A-Za-z])(?:pass|PASS|pw)$|[a-z0-9]Pass$|(?:^|_)PW$/;
/** Names that end like a secret's and hold none. */
const INNOCENT =
  /(?:public|primary|foreign|page|next|prev|previous|continuation|cursor|sync|cancell?ation|cancel|abort|stop|eos|bos|pad|unk|mask|sep|cls|start|end|max|min|num|total|input|output|cached?|prompt|completion|reasoning|thinking|per|each|count|first|last|invalid|unexpected|design|lookahead|current|special|unknown|has|is|no|show|hide|forgot|reset|change|update|confirm|missing|require[sd]?|need|get|set|use|with|without|toggle|validate|check|verify|hash|encrypt){1,3}[ _.-]?(?:pass|passw(?:or)?d|pwd|secret|token|key|credentials?|(?:api|access)[_.-]?key)s?$/i;

/** More of a name's end than the expressions above can tell apart. */
const SECRET_TAIL = 40;
const INNOCENT_TAIL = 32;

/** Whether a name ends as a secret's does; some that do hold none, see `isInnocentName`. */
export function endsInSecret(name: string): boolean {
  const tail = name.length > SECRET_TAIL ? name.slice(-SECRET_TAIL) : name;
  return NAME.test(tail) || PASS.test(tail);
}

export function isInnocentName(name: string): boolean {
  const tail = name.slice(-INNOCENT_TAIL);
  const found = INNOCENT.exec(tail);
  if (found === null) return false;
  // "hopper_secret" and "ACCOUNT_TOKEN" end in such a word by chance; in "usageMaxTokens" it is a word of its own.
  const at = name.length - tail.length + found.index;
  return !/[A-Za-z]/.test(name[at - 1] ?? "") || /[a-z][A-Z]/.test(name.slice(at - 1, at + 1));
}

/** Whether a name's own words say its value is a secret: `DB_PASSWORD`, `apiKey`, `client-secret`, `x-auth-token`. */
export const isSecretName = (name: string): boolean => endsInSecret(name) && !isInnocentName(name);

export const isPasswordName = (name: string): boolean => /pass|pwd|pw$/i.test(name);

/** Whether a name could be a secret's; errs towards yes, also where raw JSON's escapes are glued to it. */
export const mayBeSecretName = (name: string): boolean => NAME.test(name) || /(?:pass|pw)$/i.test(name);

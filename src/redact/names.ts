/** Names whose own words say that their value is a secret. */
import { Automaton } from "./automaton.ts";

/** Longest name looked at, in code units. */
export const NAME_CAP = 64;

/** Services whose keys bear no mark of their own, so that only the service's name tells what `…_KEY` holds. */
const SERVICES =
  "algolia|amplitude|anthropic|apify|assemblyai|auth0|azure|binance|bitfinex|bitmex|braintree|bugsnag|chartmogul|clarifai|clockify|cloudflare|cloudconvert|cloudinary|cloudsmith|codemagic|cohere|coinbase|convertkit|coveralls|cryptocompare|currencylayer|datadog|deepgram|deepseek|etherscan|fastly|freshdesk|gemini|geocodio|giphy|fal|github|gitlab|godaddy|graphhopper|groq|heroku|hubspot|ibm|ibm[_-]iam|ibm[_-]cloud|cloud[_-]iam|infura|intercom|ipinfo|jira|kraken|kucoin|launchdarkly|logdna|loggly|mailchimp|mailgun|mandrill|mapbox|messagebird|mistral|mixpanel|netlify|newrelic|nexmo|okta|openai|opsgenie|pagerduty|pendo|pipedrive|pinata|postmark|rapidapi|rollbar|scraperapi|scrapingbee|sendgrid|sentry|serpapi|shodan|shopify|softlayer|solarwinds|cloudant|sparkpost|stripe|twilio|twitch|typesense|uploadcare|virustotal|vonage|youtube|zendesk";
const NAME = new Automaton(
  new RegExp(
    `(?:passw(?:or)?d|passphrase|passcode|pwd|secret|credentials?|authorization|(?:${SERVICES}|sdk|api|access|secret|private|auth|authentication|encryption|signing|signature|account|master|service|license|licence|shared|admin|root|app|application|client|subscription|storage|ssh|webhook|preshared|pre-shared|pre_shared)[_.-]?key|token)(?:[_.-]?(?:base64|b64|base|value|val|plain|plaintext|raw|prod|production|dev|development|stag|staging|live|old|new|[0-9]{1,2}))?`,
    "i",
  ),
  "end",
);
/** Names that end like a secret's and hold none. */
const INNOCENT = new Automaton(
  /(?:public|primary|foreign|page|next|prev|previous|continuation|cursor|sync|cancell?ation|cancel|abort|stop|eos|bos|pad|unk|mask|sep|cls|start|end|max|min|num|total|input|output|cached?|prompt|completion|reasoning|thinking|per|each|count|first|last|invalid|unexpected|design|lookahead|current|special|unknown|has|is|no|show|hide|forgot|reset|change|update|confirm|missing|require[sd]?|need|get|set|use|with|without|toggle|validate|check|verify|hash|encrypt){1,3}[ _.-]?(?:pass|passw(?:or)?d|pwd|secret|token|key|credentials?|(?:api|access)[_.-]?key)s?/i,
  "end",
);
export const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;
const isSmall = (code: number): boolean => code >= 97 && code <= 122;
const isSmallOrDigit = (code: number): boolean => isSmall(code) || (code >= 48 && code <= 57);

/** `pass` and `pw` as words of their own, `dbPass`, `DB_PW`. */
function endsInPass(text: string, start: number, end: number): boolean {
  const isShort = (text.charCodeAt(end - 1) | 32) === 119;
  const at = isShort ? end - 2 : end - 4;
  if (at < start) return false;
  const before = at > start ? text.charCodeAt(at - 1) : 0;
  if (isShort)
    return (
      (text.startsWith("pw", at) && !isLetter(before)) || (text.startsWith("PW", at) && (at === start || before === 95))
    );
  return (
    ((text.startsWith("pass", at) || text.startsWith("PASS", at)) && !isLetter(before)) ||
    (text.startsWith("Pass", at) && isSmallOrDigit(before))
  );
}

/** Whether the name between two places ends as a secret's does; some that do hold none, see `isInnocentName`. */
export const endsInSecret = (text: string, start: number, end: number): boolean =>
  NAME.test(text, start, end) || endsInPass(text, start, end);

/** "hopper_secret" and "ACCOUNT_TOKEN" end in a harmless word by chance; in "usageMaxTokens" it is a word of its own. */
export const isInnocentName = (text: string, start: number, end: number): boolean =>
  INNOCENT.test(text, start, end, (_, at) => at === start || beginsWord(text, at));

function beginsWord(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return !isLetter(before) || (isSmall(before) && !isSmall(text.charCodeAt(at)));
}

/** Whether a name's own words say its value is a secret: `DB_PASSWORD`, `apiKey`, `client-secret`, `x-auth-token`. */
export const isSecretName = (name: string): boolean =>
  endsInSecret(name, 0, name.length) && !isInnocentName(name, 0, name.length);

/** Whether the name between two places holds `pass` or `pwd`, or ends in `pw`. */
export function isPasswordName(text: string, start: number, end: number): boolean {
  for (let i = start; i < end - 1; i++) {
    if ((text.charCodeAt(i) | 32) !== 112) continue;
    const next = text.charCodeAt(i + 1) | 32;
    if (next === 119 && (i + 2 === end || (text.charCodeAt(i + 2) | 32) === 100)) return true;
    if (next !== 97 || i + 4 > end) continue;
    if ((text.charCodeAt(i + 2) | 32) === 115 && (text.charCodeAt(i + 3) | 32) === 115) return true;
  }
  return false;
}

/** Whether a name could be a secret's; errs towards yes, also where raw JSON's escapes are glued to it. */
export const mayBeSecretName = (text: string, start: number, end: number): boolean =>
  NAME.test(text, start, end) || /(?:pass|pw)$/i.test(text.slice(Math.max(start, end - 4), end));

/** Names whose own words say that their value is a secret. */
import { Automaton } from "./automaton.ts";
import { isDigit, isLetter, isLower, unitsOf } from "./units.ts";

/** Longest name looked at, in code units. */
export const NAME_CAP = 64;

/** Services whose keys bear no mark of their own, so that only the service's name tells what `…_KEY` holds. */
const SERVICES =
  "algolia|amplitude|anthropic|apify|assemblyai|auth0|aws|azure|binance|bitfinex|bitmex|braintree|bugsnag|chartmogul|clarifai|clockify|cloudflare|cloudconvert|cloudinary|cloudsmith|codemagic|cohere|coinbase|convertkit|coveralls|cryptocompare|currencylayer|datadog|deepgram|deepseek|etherscan|fastly|freshdesk|gemini|geocodio|giphy|fal|github|gitlab|godaddy|graphhopper|groq|heroku|hubspot|ibm|ibm[_-]iam|ibm[_-]cloud|cloud[_-]iam|infura|intercom|ipinfo|jira|kraken|kucoin|launchdarkly|logdna|loggly|mailchimp|mailgun|mandrill|mapbox|messagebird|mistral|mixpanel|netlify|newrelic|nexmo|okta|openai|opsgenie|pagerduty|pendo|pipedrive|pinata|postmark|rapidapi|rollbar|scraperapi|scrapingbee|sendgrid|sentry|serpapi|shodan|shopify|softlayer|solarwinds|cloudant|sparkpost|stripe|twilio|twitch|typesense|uploadcare|virustotal|vonage|youtube|zendesk";
/**
 * `sonar.login` takes a token as well as a user:
 * https://docs.sonarsource.com/sonarqube-server/analyzing-source-code/analysis-parameters/
 */
const NAME = new Automaton(
  new RegExp(
    `(?:passw(?:or)?d|passphrase|passcode|pwd|secret|credentials?|authorization|(?:${SERVICES}|sdk|api|access|secret|private|auth|authentication|encryption|signing|signature|account|master|service|license|licence|shared|admin|root|app|application|client|subscription|storage|ssh|webhook|preshared|pre-shared|pre_shared)[_.-]?key|secret[_-]id|sonar[._-]login|token)(?:[_.-]?(?:base64|b64|base|value|val|plain|plaintext|raw|prod|production|dev|development|stag|staging|live|old|new|[0-9]{1,2}))?`,
    "i",
  ),
  "end",
);
/** Names that end like a secret's and hold none. */
const INNOCENT = new Automaton(
  /(?:public|primary|foreign|page|next|prev|previous|continuation|cursor|sync|cancell?ation|cancel|abort|stop|eos|bos|pad|unk|mask|sep|cls|start|end|max|min|num|total|input|output|cached?|prompt|completion|reasoning|thinking|per|each|count|first|last|invalid|unexpected|design|lookahead|current|special|unknown|has|is|no|show|hide|forgot|reset|change|update|confirm|missing|require[sd]?|need|get|set|use|with|without|toggle|validate|check|verify|hash|encrypt){1,3}[ _.-]?(?:pass|passw(?:or)?d|pwd|secret|token|key|credentials?|(?:api|access)[_.-]?key)s?/i,
  "end",
);
const CAPITAL_P = 80;
const CAPITAL_W = 87;
const SMALL_A = 97;
const UNDERSCORE = 95;
const SMALL_D = 100;
const SMALL_P = 112;
const SMALL_S = 115;
const SMALL_W = 119;
/** A letter as a small one. */
const lower = (units: Uint16Array, at: number): number => (units[at] as number) | 32;
const isLowerOrDigit = (code: number): boolean => isLower(code) || isDigit(code);

const PASS = new Automaton(/pass|PASS|Pass|pw|PW/, "end");

/** `pass` and `pw` as words of their own, `dbPass`, `DB_PW`. */
const endsInPass = (units: Uint16Array, start: number, end: number): boolean =>
  PASS.test(units, start, end, (_, at) => {
    const before = at > start ? (units[at - 1] as number) : 0;
    if (units[at] === CAPITAL_P && units[at + 1] === CAPITAL_W) return at === start || before === UNDERSCORE;
    return units[at] === CAPITAL_P && units[at + 1] === SMALL_A ? isLowerOrDigit(before) : !isLetter(before);
  });

/** Whether the name between two places ends as a secret's does; some that do hold none, see `isInnocentName`. */
export const endsInSecret = (units: Uint16Array, start: number, end: number): boolean =>
  NAME.test(units, start, end) || endsInPass(units, start, end);

/** "hopper_secret" and "ACCOUNT_TOKEN" end in a harmless word by chance; in "usageMaxTokens" it is a word of its own. */
export const isInnocentName = (units: Uint16Array, start: number, end: number): boolean =>
  INNOCENT.test(units, start, end, (_, at) => at === start || beginsWord(units, at));

function beginsWord(units: Uint16Array, at: number): boolean {
  const before = units[at - 1] as number;
  return !isLetter(before) || (isLower(before) && !isLower(units[at] as number));
}

/** Whether a name's own words say its value is a secret: `DB_PASSWORD`, `apiKey`, `client-secret`, `x-auth-token`. */
export function isSecretName(name: string): boolean {
  if (!mayBeSecretName(name)) return false;
  const units = unitsOf(name);
  return endsInSecret(units, 0, name.length) && !isInnocentName(units, 0, name.length);
}

/** Whether the name between two places holds `pass` or `pwd`, or ends in `pw`. */
export function isPasswordName(units: Uint16Array, start: number, end: number): boolean {
  for (let i = start; i < end - 1; i++) {
    if (lower(units, i) !== SMALL_P) continue;
    const next = lower(units, i + 1);
    if (next === SMALL_W && (i + 2 === end || lower(units, i + 2) === SMALL_D)) return true;
    if (next === SMALL_A && i + 4 <= end && lower(units, i + 2) === SMALL_S && lower(units, i + 3) === SMALL_S)
      return true;
  }
  return false;
}

/** Whether a name could be a secret's; errs towards yes, also where raw JSON's escapes are glued to it. */
export function mayBeSecretName(name: string): boolean {
  if (NAME.ends(name)) return true;
  const last = name.charCodeAt(name.length - 1) | 32;
  return (last === SMALL_S || last === SMALL_W) && /(?:pass|pw)$/i.test(name);
}

/** A command that sets a variable to the word after its name: in a Dockerfile, in fish, on Windows, and in AWS's command line. */
const SETTER = /(?:^|[^0-9A-Za-z_]|\\[nrt])(?:ENV|setx|set -[A-Za-z]{0,2}x|configure set) $/;
const MAX_SETTER = 16;

/** Whether the name at a place is one that such a command sets. */
export function isSetBy(text: string, start: number): boolean {
  // Names follow words everywhere: the last letter of the word rules out nearly all of them.
  const last = text[start - 2];
  return (
    (last === "V" || last === "x" || last === "t") && SETTER.test(text.slice(Math.max(0, start - MAX_SETTER), start))
  );
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newConnectCode } from "../../../src/kit/tokens.ts";
import { type Finding, findSecrets, lineCounter, mightHoldSecret, redactText } from "../../../src/redact/redact.ts";
import { hex, word } from "../../../src/redact/rule.ts";
import { RULES } from "../../../src/redact/rules.ts";

const GITHUB = `ghp_${word(36)}`;
const BEGIN = `-----BEGIN ${"RSA PRIVATE"} KEY-----`;
const END = `-----END ${"RSA PRIVATE"} KEY-----`;
const BODY = `${word(64)}\n${word(60)}\n${word(20)}`;

const named = (text: string): [string, string][] => findSecrets(text).map((f) => [f.rule, text.slice(f.start, f.end)]);

describe("private keys", () => {
  test("are found whole, header and end line included", () => {
    const text = `before\n${BEGIN}\n${BODY}\n${END}\nafter`;
    expect(named(text)).toEqual([["private-key", `${BEGIN}\n${BODY}\n${END}`]]);
  });

  test("are found with their line ends escaped, as in a service account's JSON", () => {
    const text = `{"private_key": "${BEGIN}\\n${BODY.replaceAll("\n", "\\n")}\\n${END}\\n"}`;
    expect(redactText(text).text).toBe('{"private_key": "[REDACTED:private-key]\\n"}');
  });

  test("with no end line are masked to the last of their material and no further", () => {
    const text = `${BEGIN}\n${BODY}\n\nSome words that follow.`;
    expect(named(text)).toEqual([["private-key", `${BEGIN}\n${BODY}`]]);
    // The last line may be short.
    expect(named(`${BEGIN}\n${BODY}\nAbC9dQ==\n\nSome words.`)).toEqual([
      ["private-key", `${BEGIN}\n${BODY}\nAbC9dQ==`],
    ]);
  });

  test("are found where what comes after them was redacted before, or a part of them", () => {
    const later = "[REDACTED:github-token]\nat /usr/local/lib/node_modules/something/index";
    expect(redactText(`${BEGIN}\n${BODY}\n${later}`).text).toMatch(/^\[REDACTED:private-key\]/);
    expect(redactText(`${BEGIN}\n${BODY}\n[REDACTED:x]\n${BODY}\n${END}\nafter`).text).toBe(
      "[REDACTED:private-key]\nafter",
    );
    expect(redactText(`${BEGIN}[REDACTED:x]`).text).toBe("[REDACTED:private-key-header][REDACTED:x]");
  });

  test("are found whole behind base64, as in a kubeconfig", () => {
    const encoded = Buffer.from(`${BEGIN}\n${BODY}\n${END}\n`).toString("base64");
    expect(named(`client-key-data: ${encoded}\n`)).toEqual([["private-key", encoded]]);
    const certificate = Buffer.from(`-----BEGIN CERTIFICATE-----\n${BODY}`).toString("base64");
    expect(findSecrets(`client-certificate-data: ${certificate}\n`)).toEqual([]);
  });

  test("are found whole behind base64 that was broken into lines", () => {
    const encoded = Buffer.from(`${BEGIN}\n${BODY}\n${END}\n`).toString("base64");
    const lines = encoded.match(/.{1,76}/g) as string[];
    for (const [before, between, after] of [
      ["", "\n", "\n"],
      ["key: |\n  ", "\r\n  ", "\r\nclient-certificate-data: x\n"],
    ] as const) {
      const text = before + lines.join(between) + after;
      expect(named(text)).toEqual([["private-key", lines.join(between)]]);
    }
    // A word on the next line does not belong to it.
    expect(named(`${lines[0]}${lines[1]}\nand-some-words-on-a-line\n`)).toEqual([
      ["private-key", `${lines[0]}${lines[1]}`],
    ]);
  });

  test("that go on past the cap are covered to the cap", () => {
    const [found] = findSecrets(`${BEGIN}\n${"AbC9".repeat(20_000)}`);
    expect(found).toMatchObject({ rule: "private-key", strength: "certain", start: 0, end: 16_384 });
  });

  test("of every armour are certain", () => {
    for (const kind of ["", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "]) {
      const text = `-----BEGIN ${kind}${"PRIVATE"} KEY-----\n${BODY}\n-----END ${kind}${"PRIVATE"} KEY-----`;
      expect(findSecrets(text)).toEqual([{ rule: "private-key", strength: "certain", start: 0, end: text.length }]);
    }
    const pgp = `-----BEGIN PGP ${"PRIVATE"} KEY BLOCK-----\n\n${BODY}\n-----END PGP ${"PRIVATE"} KEY BLOCK-----`;
    expect(findSecrets(pgp)).toMatchObject([{ rule: "private-key", end: pgp.length }]);
  });

  test("named by their header alone are only likely, so that a text about keys is not refused", () => {
    const text = `Look for \`${BEGIN}\` in the file.`;
    expect(findSecrets(text)).toMatchObject([{ rule: "private-key-header", strength: "likely" }]);
  });

  test("are not public keys or certificates", () => {
    for (const kind of ["PUBLIC KEY", "CERTIFICATE", "PGP PUBLIC KEY BLOCK"])
      expect(findSecrets(`-----BEGIN ${kind}-----\n${BODY}\n-----END ${kind}-----`)).toEqual([]);
  });
});

describe("certain findings", () => {
  test("leave out placeholders", () => {
    for (const text of [
      `ghp_${"x".repeat(36)}`,
      `sk_live_${"your_key_goes_right_here"}`,
      `sk_live_${"put_in_own_key_which_is_long"}`,
    ])
      expect(findSecrets(text)).toEqual([]);
  });

  test("do not take a token for a placeholder because its letters are plain", () => {
    for (const text of [
      `AKIA${"ABCDEFGHIJKLMNOP"}`,
      `ghp_${"abcdefghijklmnopqrstuvwxyzabcdefghij"}`,
      `ghp_${"a".repeat(36)}`,
    ])
      expect(findSecrets(text).map(({ strength }) => strength)).toEqual(["certain"]);
  });

  test("are only likely where a provider documents them as samples", () => {
    expect(findSecrets(`AKIA${"IOSFODNN7"}EXAMPLE`).map(({ strength }) => strength)).toEqual(["likely"]);
  });

  test.each([
    ["a page's address that ends in a word and a digest", `https://acme.notion.site/API-${hex(32)}`],
    ["the same in capitals", `https://acme.notion.site/API-${hex(32).toUpperCase()}`],
    ["a page's address with a shorter word", `https://acme.notion.site/How-to-get-a-key-${hex(32)}`],
    ["a function whose name begins like a token", "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();"],
    ["a fingerprint in groups", "7F3A-9B2C-4D5E-6F70-8192-A3B4"],
    ["dates", "2026-1121-2027-1121-2028-1121"],
    ["labels in minified code", 'a={passwordLabel:"Password:",rememberMeLabel:"Keep me signed in"};'],
  ])("are not made of %s", (_of, text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  test("are only likely where a provider means the key to be public", () => {
    const key = `AIza${"Sy"}${word(33)}`;
    const config = `const firebaseConfig = { apiKey: "${key}", authDomain: "acme.firebaseapp.com" };`;
    expect(findSecrets(config)).toMatchObject([{ rule: "google-api-key", strength: "likely" }]);
    expect(findSecrets(`GEMINI_KEY=${key}`)).toMatchObject([{ rule: "google-api-key", strength: "certain" }]);
  });

  test("are made of the codes that bind devices to a team", () => {
    const code = newConnectCode((count) => Buffer.from(hex(2 * count), "hex"));
    expect(named(`reckon connect ${code}`)).toEqual([["reckon-connect-code", code]]);
  });

  test("stand where the provider's mark is glued to a word", () => {
    expect(named(`tokenis${GITHUB}`)).toEqual([["github-token", GITHUB]]);
  });

  test("win over likely ones and replace both", () => {
    expect(named(`password = "${GITHUB}"`)).toEqual([["github-token", GITHUB]]);
    expect(named(`https://me:${GITHUB}@host.example`)).toEqual([["github-token", GITHUB]]);
  });

  test("are seen at any offset around the prefilter's chunk end", () => {
    for (let offset = 65_536 - 50; offset <= 65_536 + 5; offset++) {
      const text = `${" ".repeat(offset)}${GITHUB} `;
      expect(findSecrets(text)).toEqual([
        { rule: "github-token", strength: "certain", start: offset, end: offset + GITHUB.length },
      ]);
    }
  });
});

describe("likely findings", () => {
  test.each([
    ["DB_PASSWORD=hunter2hunter2", "hunter2hunter2"],
    ["password: hunter2-Zebra!", "hunter2-Zebra!"],
    ['  "client_secret": "9f8a7b6c5d4e"', "9f8a7b6c5d4e"],
    ["const apiKey = 'k9Lm2Pq8Rt5V'", "k9Lm2Pq8Rt5V"],
    ["accountKey: 'k9Lm2Pq8Rt5V'", "k9Lm2Pq8Rt5V"],
    ["login --password s3cretPa55 --user me", "s3cretPa55"],
    ["login --token=abc123def456x", "abc123def456x"],
    ["Authorization: Bearer abc123DEF456ghi7", "abc123DEF456ghi7"],
    ["-H 'X-Api-Key: 0a1b2c3d4e5f6a7b'", "0a1b2c3d4e5f6a7b"],
    ["<password>hunter2Zebra</password>", "hunter2Zebra"],
    ["<db_pass>hunter2Zebra</db_pass>", "hunter2Zebra"],
    ["const dbPass = 'Zebra2024x'", "Zebra2024x"],
    ["const db2Pass = 'Zebra2024x'", "Zebra2024x"],
    ["DB_PW=Zebra2024x", "Zebra2024x"],
    ["Server=db;User Id=sa;Password=Zebra!2024x;", "Zebra!2024x"],
    ["postgres://app:Zebra2024@db.internal:5432/x", "Zebra2024"],
    ["curl -u admin:Zebra2024x https://host", "Zebra2024x"],
    ["http -a kim:Zebra2024x https://host", "Zebra2024x"],
    ["https POST host/orders --auth 'kim:Zebra2024x' n=1", "Zebra2024x"],
    ["curl -b session=0a1b2c3d4e5f6a7b https://host", "0a1b2c3d4e5f6a7b"],
    ['curl --cookie "theme=dark; session=0a1b2c3d4e5f6a7b" https://host', "0a1b2c3d4e5f6a7b"],
    ["curl --user kevin:'Zebra2024x' -X PATCH", "Zebra2024x"],
    ["curl --user  'kevin:Zebra2024x' https://host", "Zebra2024x"],
    ['curl -u ":Zebra2024x" https://localhost:9200', "Zebra2024x"],
    ["curl -sSu admin:Zebra2024x https://host", "Zebra2024x"],
    ["curl -s -uadmin:Zebra2024x https://host", "Zebra2024x"],
    ["postgres://app:Z@bra2024x@db.internal:5432/x", "Z@bra2024x"],
    ["mongodb://app:Zebra@2024@x@db.internal/x", "Zebra@2024@x"],
    ["FROM node\nENV DB_PASSWORD Zebra2024x\nRUN x", "Zebra2024x"],
    ["setx API_TOKEN a1b2c3d4e5f6", "a1b2c3d4e5f6"],
    ["set -gx API_TOKEN 'a1b2c3d4e5f6'", "a1b2c3d4e5f6"],
    [
      "aws configure set aws_secret_access_key wJalrXUtnFEMIK7MDENGbPxRfiCY8h3Lq2Zt5Vw9",
      "wJalrXUtnFEMIK7MDENGbPxRfiCY8h3Lq2Zt5Vw9",
    ],
    ["secret := `a1b2c3d4e5f6`", "a1b2c3d4e5f6"],
    ['API_TOKEN ::= "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ['API_TOKEN :::= "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ['API_TOKEN ?= "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ["DB_PASS?=hunter2Zebra", "hunter2Zebra"],
    ["?x=%0d%0aSet-Cookie:%20SESSIONID=a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8"],
    ['options.token ||= "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ['$token .= "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ['var token string = "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ['System.setProperty("APP_TOKEN", "a1b2c3d4e5f6")', "a1b2c3d4e5f6"],
    ["request.header('X-Api-Key', 'k9Lm2Pq8Rt5V')", "k9Lm2Pq8Rt5V"],
    ["<apiToken>\n    a1b2c3d4e5f6\n</apiToken>", "a1b2c3d4e5f6"],
    ["graphhopper_secret: 9giiavt5bqwuhsa0b", "9giiavt5bqwuhsa0b"],
    ["ACCOUNT_TOKEN=9giiavt5bqwuhsa0b", "9giiavt5bqwuhsa0b"],
    ["const beeApiKey =\n  'k9Lm2Pq8Rt5V'", "k9Lm2Pq8Rt5V"],
    ["clockifyKey = 'k9Lm2Pq8Rt5V'", "k9Lm2Pq8Rt5V"],
    ["DATADOG_KEY=0a1b2c3d4e5f6a7b8c9d", "0a1b2c3d4e5f6a7b8c9d"],
    ["launchdarkly-sdk-key: 0a1b2c3d4e5f6a7b8c9d", "0a1b2c3d4e5f6a7b8c9d"],
    ["'password' => 'Zebra!2024'", "Zebra!2024"],
    ['{\\"password\\":\\"Zebra2024x\\"}', "Zebra2024x"],
    ["curl -sS \\\n  -X POST \\\n  -u admin:Zebra2024x \\\n  https://host", "Zebra2024x"],
    ["Authorization: SSWS 00QCjAl4MlV-WPXM_n8zN1i", "00QCjAl4MlV-WPXM_n8zN1i"],
    ["curl -H 'Authorization: Bot MTk4NjIyNDgz.x1' https://host", "MTk4NjIyNDgz.x1"],
    ['curl -H "Authorization: Key 0a1b2c3d4e:5f6a7b8c" https://host', "0a1b2c3d4e:5f6a7b8c"],
    ["Authorization: Token 0a1b2c3d4e5f6a7b was refused", "0a1b2c3d4e5f6a7b"],
    ["Authorization: GenieKey eb243592-faa2-4ba2", "eb243592-faa2-4ba2"],
    ["proxy-authorization: Frob abc123def456ghi", "abc123def456ghi"],
    ['Authorization: Hawk id="dh37fgj492je", mac="6R4rV5iE+NPo"', 'id="dh37fgj492je", mac="6R4rV5iE+NPo'],
    ["Cookie: theme=dark; session=0a1b2c3d4e5f6a7b; x=1", "0a1b2c3d4e5f6a7b"],
    ["Set-Cookie: connect.sid=s%3Aabcdef12345.ABC; Path=/; HttpOnly", "s%3Aabcdef12345.ABC"],
    ["docker login -u me -p Zebra2024x registry.example", "Zebra2024x"],
    ["sshpass -p 'Zebra2024x' ssh me@host", "Zebra2024x"],
    ["mysql -uroot -pZebra2024x shop", "Zebra2024x"],
    ["mysql -p,Zebra2024x shop", ",Zebra2024x"],
    ["machine host.example\n  login me\n  password Zebra2024x\n", "Zebra2024x"],
    ['{"auths":{"registry.example":{"auth":"dXNlcjpaZWJyYTIwMjQ="}}}', "dXNlcjpaZWJyYTIwMjQ="],
    ["CREATE USER app WITH ENCRYPTED PASSWORD 'Zebra2024x' CREATEDB;", "Zebra2024x"],
    ["CREATE ROLE app LOGIN PASSWORD  'Zebra2024x';", "Zebra2024x"],
    ["ALTER USER 'app'@'localhost' IDENTIFIED BY 'Zebra2024x';", "Zebra2024x"],
    ["alter user app identified with mysql_native_password by 'Zebra2024x';", "Zebra2024x"],
    ["CREATE USER app ACCOUNT UNLOCK IDENTIFIED BY Zebra2024x;", "Zebra2024x"],
    ['CREATE USER app\\n  IDENTIFIED BY "Zebra2024x"', "Zebra2024x"],
    ["GRANT ALL ON *.* TO 'app'@'%' IDENTIFIED BY 'Zebra2024x'", "Zebra2024x"],
    ['#define PASSWORD "Zebra2024x"', "Zebra2024x"],
    ['#define\tWIFI_PASS\t"Zebra2024x"', "Zebra2024x"],
    ['#  define API_TOKEN "a1b2c3d4e5f6"', "a1b2c3d4e5f6"],
    ["define('PASSWORD', 'Zebra2024x');", "Zebra2024x"],
    ["define( 'DB_PASSWORD', 'Zebra2024x' );", "Zebra2024x"],
    ["credentials {\n  password 'Zebra2024x'\n}", "Zebra2024x"],
    ['credentials(AwsCredentials) {\n    secretKey "k9Lm2Pq8Rt5V"\n}', "k9Lm2Pq8Rt5V"],
    ["accessKey 'k9Lm2Pq8Rt5V';", "k9Lm2Pq8Rt5V"],
    ['  secretKey "k9Lm2Pq8Rt5V"', "k9Lm2Pq8Rt5V"],
    ['storePassword "Zebra2024x"\n', "Zebra2024x"],
    ["mvn sonar:sonar -Dsonar.login=0a1b2c3d4e5f6a7b8c9d", "0a1b2c3d4e5f6a7b8c9d"],
    ["SONAR_LOGIN: 0a1b2c3d4e5f6a7b8c9d", "0a1b2c3d4e5f6a7b8c9d"],
    ['$p = ConvertTo-SecureString "Zebra2024x" -AsPlainText -Force', "Zebra2024x"],
    ["ConvertTo-SecureString -String 'Zebra2024x' -Force -AsPlainText", "Zebra2024x"],
    ["convertto-securestring -AsPlainText Zebra2024x -Force", "Zebra2024x"],
    ["$p = 'Zebra2024x' | ConvertTo-SecureString -AsPlainText -Force", "Zebra2024x"],
    [
      '{"typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey", "value": "GhDLeulEJRDC8/19NMUXqw=="}',
      "GhDLeulEJRDC8/19NMUXqw==",
    ],
    [
      `eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJ${word(40)}.signature`,
      `eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJ${word(40)}`,
    ],
    ["pw: Zebra2024x", "Zebra2024x"],
    ["id: me\npw: Zebra2024x\n", "Zebra2024x"],
    ["ssh me@host.example (pw:Zebra2024x)", "Zebra2024x"],
    ["ID:me/PW:Zebra2024x", "Zebra2024x"],
    ["kind: 'Secret'\ndata:\n  pin: 'WmVicmEyMDI0eA=='\n", "WmVicmEyMDI0eA=="],
    ["kind: Secret\ndata:\n  .dockercfg: |\n    eyJhdXRocyI6e319Cg==\n  # next\n", "eyJhdXRocyI6e319Cg=="],
    [
      "kind: Secret\nstringData:\n  htpasswd: |-\n    me:$apr1$JXRA7j2s$LpVns9\ntype: Opaque\n",
      "me:$apr1$JXRA7j2s$LpVns9",
    ],
    [`{"auths":{"registry.example":{"auth":"${word(86)}"}}}`, word(86)],
    [
      "vault write auth/approle/login secret_id=6a174c20-f6de-a53c-74d2-6018fcceff64",
      "6a174c20-f6de-a53c-74d2-6018fcceff64",
    ],
    ["mistralKey=9giiavt5bqwuhsa0b", "9giiavt5bqwuhsa0b"],
    ["herokuKey: 'k9Lm2Pq8Rt5V'", "k9Lm2Pq8Rt5V"],
    ["//registry.example/:_auth=dXNlcjpaZWJyYTIwMjQ=", "dXNlcjpaZWJyYTIwMjQ="],
    ["kind: Secret\nmetadata:\n  name: a\nstringData:\n  login: Zebra2024x\n---\na: 1", "Zebra2024x"],
    ["kind: Secret\r\nstringData:\r\n  login: Zebra2024x\r\n", "Zebra2024x"],
    ["data:\n  pin: WmVicmEyMDI0eA==\n  username: YWRtaW4=\nkind: Secret\n", "WmVicmEyMDI0eA=="],
  ])("are made of %s", (text, secret) => {
    expect(findSecrets(text).map((f) => [f.strength, text.slice(f.start, f.end)])).toEqual([["likely", secret]]);
    expect(mightHoldSecret(text)).toBe(true);
  });

  test.each([
    'password = os.environ["DB_PASSWORD_1"]',
    `password: $${"{DB_PASSWORD1}"}`,
    "password = <your-password-1>",
    "token: xxxxxxxxxxxx1",
    "secret = changeme1",
    "apiKey: process.env.API_KEY_1",
    "password: string",
    "password: z.string().min(12)",
    "token = getToken1()",
    'if (token != "a1b2c3d4e5f6") return',
    'columns = ["token", "a1b2c3d4e5f6"]',
    'setProperty("APP_TOKEN", readToken1("a1"))',
    'setProperty("max_tokens", "4096x4096")',
    'label("token", "a plain sentence")',
    "<token>\n  <part1/>\n</token>",
    "The token. 12abc34def is not its value",
    "sort_key: 0a1b2c3d4e5f6a7b8c9d",
    "cacheKey = '0a1b2c3d4e5f6a7b8c9d'",
    "curl -u : https://localhost:9200",
    "curl --url https://host.example/a1b2c3d4e5f6",
    "curl -so out:a1b2c3d4e5f6 -Lu",
    "https://a:b@host.example",
    "the set token 12abc34def of the ENV",
    "you set password optional1",
    'password = ""',
    "password: null",
    "token: true",
    "pwd=ab1",
    "the password: it is optional",
    "max_tokens: 4096000000",
    "input_token: 12345678a",
    "usageMaxToken: 12345678a",
    "nextpagetoken: 12345678a",
    "MAX_OUTPUT_TOKEN=12345678a",
    "password:\n  optional1",
    'public_key = "abc123def456"',
    "next_page_token: abc123def456",
    "secretName: my-tls-secret-2",
    "password_hash_rounds = 12abc34def",
    "postgres://postgres:postgres@localhost/db",
    `https://user:$${"{PASS}"}@host`,
    "https://host.example:8080/@scope/package@1.0.0",
    "Bearer authentication is required",
    "Authorization: see RFC 9110 section 11.6.2",
    "The authorization: which OAuth2 grant it needs",
    "authorization: https://host.example/docs/2",
    "mysql -p 3306 shop",
    "docker login registry.example | docker run -p 16686:16686 x",
    "docker run \\\n  -p 16686:16686 x",
    "CREATE USER app IDENTIFIED BY $DB_SECRET_1;",
    "CREATE USER app IDENTIFIED EXTERNALLY BY 'kerberos1'",
    "ALTER USER app WITH PASSWORD '$APP_PASSWORD_1'",
    "Each row is identified by 'a1b2c3d4e5f6'",
    "create user accounts that are identified by mail",
    "The password 'must be set' first",
    "#define PASSWORD_KEY 0x0dead1beef7cafe2",
    '#define MAX_TOKEN "1234567a"',
    'token "a1b2c3d4e5f6" was not expected',
    "define('MAX_TOKENS', '4096x4096')",
    'secretKey "k9Lm2Pq8Rt5V" is what the sample calls it',
    'the secretKey "k9Lm2Pq8Rt5V"',
    "sonar.login=admin",
    "const comPass = words; COMPASS='Zebra2024x'",
    "ConvertTo-SecureString $password1 -AsPlainText -Force",
    'ConvertTo-SecureString "01000000d08c9ddf0115d1118c7a" -Key $key',
    "'Zebra2024x' | ConvertTo-Json; ConvertTo-SecureString -AsPlainText -Force",
    '{"typeUrl": "type.googleapis.com/google.crypto.tink.EcdsaPublicKey", "value": "GhDLeulEJRDC8/19NMUXqw=="}',
    `eyJ${word(30)}.eyJ${word(40)}`,
    "cpw: 4a5b6c7d8e",
    "pw: optional",
    "The machine has a login and a password policy2",
    "Cookie: theme=dark; lang=en-GB; consent=2024-01-01",
    "Cookie: session=1a2b3c4d; uid_session=12345678901234567890",
    '"auth": "required"',
    '"pass": "ページに見出しが存在します",',
    "kind: Secret\nmetadata:\n  name: web-password-2\n",
    "kind: Secret\nstringData:\n  page.html: |\n    my-page-2\n    <b>some words</b>\n",
    '"auth": "users.read.organisationmembershipsettings.v2"',
    'secret_id = "prod/web/tls-cert-2"',
    "kind: ConfigMap\ndata:\n  pin: WmVicmEyMDI0eA==\n",
    'integrity="sha512-abc123def456+/abc=="',
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "perm:users.read.organisationmembershipsettings",
    "secret-test-names-of-thirty-six-letters-or-so1",
    "dvc_server_initialise_and_wait_for_configuration",
    "unkey_workspaceSettingsPageLayout and live_someVeryLongCamelCaseFunctionName",
    "portainer ptr_to_the_next_of_all_the_nodes_that_are_left_over",
    "ZXlKb2JHOTFkQ0k2SW5Sb1pTQm9iM1Z6WlNCdlppQjBhR1VnWkdGNUluMFpHRjVJZzB3",
    "id: 123e4567-e89b-42d3-a456-426614174000",
  ])("are not made of %s", (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  test.each([600, 100_000])("mask a value of %i characters to its end", (length) => {
    const value = word(length);
    for (const [before, after] of [
      ['session_token = "', '";'],
      ['{\\"session_token\\": \\"', '\\"}'],
      ["session_token = ", ";"],
      ["SESSION_TOKEN=", "\n"],
      ["SESSION_PASSWORD=", ""],
      ["login --session-token ", " now"],
      ["login --session-token=", " now"],
      ["session_token: ", "\n"],
      ["session_token: '", "'\n"],
      ["<password>", "</password>"],
      ["Authorization: Bearer ", "\r\n"],
      ["authorization: Frob ", ""],
      ["Use Bearer ", " here"],
      ["Cookie: session=", "; x=1"],
      ["https://me:", "@host.example/"],
      ["curl -u me:", " https://host.example"],
      ["docker login -u me -p ", " registry.example"],
      ["machine host.example login me password ", "\n"],
    ] as const) {
      const text = before + value + after;
      const found = findSecrets(text).map(({ start, end }) => [start, end]);
      expect(found, before).toEqual([[before.length, before.length + length]]);
      expect(mightHoldSecret(text), before).toBe(true);
    }
  });

  test("never depend on randomness alone", () => {
    for (const length of [16, 20, 32, 40, 64, 128]) {
      expect(findSecrets(`value ${word(length)} and ${hex(length)}`)).toEqual([]);
    }
  });
});

/** Pieces from which hostile and ordinary texts are put together. */
const PIECES: readonly string[] = [
  ...RULES.flatMap((r) => r.examples()),
  ...RULES.flatMap((r) => r.examples().map((e) => e.slice(0, 8))),
  BEGIN,
  END,
  BODY,
  "password",
  "=",
  ": ",
  "token",
  '"',
  "'",
  "\\",
  "\\n",
  "\n",
  " ",
  "[",
  "]",
  "[REDACTED:x]",
  "://",
  "user",
  "@",
  "hunter2x",
  "Authorization",
  "Bearer ",
  "curl ",
  " -u ",
  "a",
  "Z9",
  "-",
  "_",
  ".",
  "/",
  "{",
  "}",
  ",",
  "\u00e9",
  "\u{1f600}",
  "\u0141",
];
const mixed = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(""));

function isTidy(text: string, findings: readonly Finding[]): boolean {
  let last = 0;
  for (const f of findings) {
    if (f.start < last || f.end <= f.start || f.end > text.length) return false;
    last = f.end;
  }
  return true;
}

describe("any text", () => {
  test("gives sorted findings that do not overlap", () => {
    fc.assert(
      fc.property(mixed, (text) => isTidy(text, findSecrets(text))),
      { numRuns: 1500 },
    );
  });

  test("redacted twice is as redacted once", () => {
    fc.assert(
      fc.property(mixed, (text) => {
        const once = redactText(text).text;
        expect(redactText(once)).toEqual({ text: once, findings: [] });
      }),
      { numRuns: 1500 },
    );
  });

  test("holds no finding when the quick check finds none", () => {
    fc.assert(
      fc.property(mixed, (text) => {
        if (!mightHoldSecret(text)) expect(findSecrets(text)).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });
});

describe("lines", () => {
  test("are counted from one, by LF, CR LF and CR", () => {
    const text = "a\nb\r\nc\rd";
    expect([0, 1, 2, 5, 7, 99].map(lineCounter(text))).toEqual([1, 1, 2, 3, 4, 4]);
    expect(lineCounter("\nb")(1)).toBe(2);
  });
});

test("a finding that begins with a row of one letter is found after a longer row, whatever separates them", () => {
  const keys = RULES.filter(({ anchors }) => anchors.some((anchor) => /^A{4,}$/.test(anchor))).flatMap(({ examples }) =>
    examples(),
  );
  expect(keys.length).toBeGreaterThan(1);
  const missed: string[] = [];
  for (const key of keys)
    for (const parted of [" ", "\\n", "\\u0041", "\u4e2d", "\u0141 "])
      for (let length = 0; length <= 80; length++) {
        const before = `${"A".repeat(length)}${parted}`;
        const text = `${before}${key} ${"A".repeat(length)}`;
        const isFound = findSecrets(text).some(
          ({ start, end }) => start <= before.length && end >= before.length + key.length,
        );
        if (!isFound) missed.push(text);
      }
  expect(missed).toEqual([]);
});

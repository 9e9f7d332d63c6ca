/** A request to try an instance with. */
interface Request {
  readonly url: string;
  readonly token?: string;
  /** JSON; without it the request is a GET. */
  readonly body?: string;
}

export interface Tried {
  readonly baseUrl: string;
  readonly connectCode: string;
  readonly deviceToken: string;
  readonly readToken: string;
}

/**
 * Lines that try an instance, to be pasted as they are: curl for a POSIX shell; on Windows for PowerShell of any version, whose own `curl`
 * is another program, and which passes quotes within words to programs in its own ways.
 */
export function tryIt(made: Tried, platform: NodeJS.Platform): string {
  const line = platform === "win32" ? powershellLine : curlLine;
  return requestsOf(made)
    .map((request) => `  ${line(request)}\n\n`)
    .join("");
}

const requestsOf = ({ baseUrl, connectCode, deviceToken, readToken }: Tried): Request[] => [
  { url: `${baseUrl}/api/health` },
  {
    url: `${baseUrl}/api/connect/exchange`,
    body: `{"code":"${connectCode}","consent":{"version":"1","deviceLabel":"my laptop"}}`,
  },
  {
    url: `${baseUrl}/api/telemetry/ingest`,
    token: deviceToken,
    body: '{"repoKey":"demo","entries":[{"seq":1,"payload":{"type":"prompt","text":"Fix the login test"}}]}',
  },
  {
    url: `${baseUrl}/api/brain/ingest`,
    token: deviceToken,
    body: '{"repoKey":"demo","version":1,"files":[{"path":".claude/brain/errors.md","content":"## 2026-11-20 Login loop\\n\\nThe cookie lacked its path.\\n"}]}',
  },
  { url: `${baseUrl}/api/brain/search?q=cookie`, token: deviceToken },
  { url: `${baseUrl}/api/me/brain/context?q=why+did+the+login+loop`, token: readToken },
];

const curlLine = ({ url, token, body }: Request): string =>
  [
    `curl ${url.includes("?") ? `'${url}'` : url}`,
    token && ` -H 'authorization: Bearer ${token}'`,
    body && ` -H 'content-type: application/json' \\\n    -d '${body}'`,
  ]
    .filter(Boolean)
    .join("");

const powershellLine = ({ url, token, body }: Request): string =>
  [
    `Invoke-RestMethod '${url}'`,
    token && ` -Headers @{ authorization = 'Bearer ${token}' }`,
    body && ` -Method Post -ContentType application/json -Body '${body}'`,
  ]
    .filter(Boolean)
    .join("");

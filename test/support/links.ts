/** What a server answered to somebody who opened a one-time link. */
export interface Opened {
  readonly status: number;
  readonly text: string;
  /** What the browser holds now. */
  readonly cookie: string;
  readonly csrf: string;
}

/** A client that keeps cookies, whatever path they are for. */
function client(origin: string) {
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const ask = async (path: string, form?: Record<string, string>) => {
    const reply = await fetch(origin + path, {
      method: form ? "POST" : "GET",
      redirect: "manual",
      headers: { cookie: cookie() },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const set of reply.headers.getSetCookie()) {
      const [name, value] = (set.split(";")[0] as string).split("=") as [string, string];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  return { ask, cookie };
}

const csrfIn = (text: string) => /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";

/** Opens a one-time link by plain forms, as somebody without script does: pastes it into the page that it leads to. */
export async function openByForms(link: string): Promise<Opened> {
  const { origin, pathname } = new URL(link);
  const { ask, cookie } = client(origin);
  const asked = await ask(pathname);
  if (asked.status !== 200) return { status: asked.status, text: asked.text, cookie: cookie(), csrf: "" };
  const sent = await ask(`${pathname}/open`, { _csrf: csrfIn(asked.text), token: link });
  const { status, text } = sent.status === 303 ? await ask(pathname) : sent;
  return { status, text, cookie: cookie(), csrf: csrfIn(text) };
}

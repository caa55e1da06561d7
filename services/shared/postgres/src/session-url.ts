/**
 * The settings of the session as start options, which need no round trip and survive a `reset`. In
 * the driver, options in the URL override all others, so the operator's options would silently
 * replace the role and the limits: they come first, and ours after them.
 */
export function withSession(
  url: string,
  settings: Readonly<Record<string, string | number>>,
): string {
  const parsed = new URL(url);
  const fromUrl = parsed.searchParams.get("options");
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  parsed.searchParams.set("options", [...(fromUrl === null ? [] : [fromUrl]), ...ours].join(" "));
  return parsed.href;
}

import { comments } from "@scrip/proto/comments";

/** `docs/errors.md#keys` is served as `/docs/errors#keys`. */
const DOCS = /docs\/([\w-]+)\.md(#[\w-]+)?/g;

/** The comment of a service, RPC, message or field in the contract. */
export function commentOf(fullName: string): string | undefined {
  return comments[fullName]?.replaceAll(
    DOCS,
    (_, page: string, section = "") => `[${page}](/docs/${page}${section})`,
  );
}

/** The first sentence. */
export function summaryOf(comment: string): string {
  const end = /[.:](?=\s|$)|;(?=\s)/.exec(comment);
  return end === null ? comment : comment.slice(0, end.index);
}

import { comments } from "@scrip/proto/comments";

/** Pointers that only the makers of the contract can follow: ` (spec/rulings.md 13)`, ` of spec/… §3`. */
const POINTERS = / \((?:spec|services)\/[^()]*\)| \(§[^()]*\)| of spec\/\S+(?: §[\d.]*\d)?/g;

/** What the contract says about a service, an RPC, a message or a field. */
export function commentOf(fullName: string): string | undefined {
  return comments[fullName]?.replaceAll(POINTERS, "");
}

/** The first sentence. */
export function summaryOf(comment: string): string {
  const end = /[.:](?=\s|$)|;(?=\s)/.exec(comment);
  return end === null ? comment : comment.slice(0, end.index);
}

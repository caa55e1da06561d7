import { isObject } from "./fields.ts";

const OWN_ID = /\b([a-z]+)_[0-9a-f]{18}\b/g;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Fields that differ between responses to the same request. */
const GENERATED = new Set(["request_id", "tracking_id", "hash", "url", "code"]);
/** The id of an image. */
const LONG_ID = /^[\w-]{40,}$/;
/** Names of `newCode`. */
const NEW_NAME = /\b\w+-\d+-[0-9a-z]+-\d+/g;

/**
 * A response without what Scrip generates for each, and with `<sent>` for the id that was sent. Numbers are left out
 * where `isCompared` says so, such as a balance that both requests change.
 */
export function comparable(
  text: string,
  sent: string,
  isCompared: (name: string) => boolean,
): unknown {
  const walk = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => walk(each, name));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [
          key.replaceAll(sent, "<sent>").replaceAll(OWN_ID, "<$1>").replaceAll(NEW_NAME, "<name>"),
          key === "id" && value["object"] === "voucher" ? "<voucher>" : walk(each, key),
        ]),
      );
    if (typeof value === "number" && !isCompared(name)) return "<number>";
    if (typeof value !== "string") return value;
    if (value.includes(sent)) return value.replaceAll(sent, "<sent>");
    if (TIME.test(value)) return "<time>";
    if (GENERATED.has(name)) return "<generated>";
    if (LONG_ID.test(value)) return "<generated>";
    return value.replaceAll(OWN_ID, "<$1>").replaceAll(NEW_NAME, "<name>");
  };
  try {
    return walk(JSON.parse(text), "");
  } catch {
    return text.replaceAll(sent, "<sent>");
  }
}

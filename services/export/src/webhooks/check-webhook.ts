import { invalidPayload } from "@scrip/errors";

import { parseEventName } from "../domain/webhook-events.ts";
import { headerViolation, targetViolation } from "../domain/webhook-target.ts";
import type { WebhookSettings } from "./webhook-settings.ts";

export function requireTarget(url: string, settings: WebhookSettings): string {
  const violation = targetViolation(url, settings);
  if (violation !== undefined) throw invalidPayload(`Property .target_url ${violation}`);
  return url;
}

/** The names in their correct spelling, each once. */
export function requireEvents(names: readonly string[]): readonly string[] {
  if (names.length === 0) throw invalidPayload("Property .events must NOT have fewer than 1 items");
  const correct = names.map((name, index) => {
    const event = parseEventName(name);
    if (event !== undefined) return event;
    throw invalidPayload(`Property .events[${index}] is not the name of an event`);
  });
  return [...new Set(correct)];
}

export function requireHeaders(
  headers: Readonly<Record<string, string>>,
  { signatureHeader }: WebhookSettings,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    const violation = headerViolation(name, value, signatureHeader);
    if (violation !== undefined) throw invalidPayload(`Property .headers.${name} ${violation}`);
  }
  return headers;
}

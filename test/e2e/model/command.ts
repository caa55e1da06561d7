import type { AsyncCommand } from "fast-check";
import { expect } from "vitest";

import type { ApiResponse } from "../../stack/api.ts";
import type { RealSystem } from "./real-system.ts";
import type { State } from "./reference.ts";

/** fast-check hands one object through a run; the states in it are never changed. */
export type Model = { state: State; crashes: number };
export type Command = AsyncCommand<Model, RealSystem>;

export const hasVouchers = ({ state }: Readonly<Model>): boolean => state.vouchers.length > 0;

/** Whatever number was drawn names one of those that are there. */
export const pickFrom = (items: readonly unknown[], drawn: number): number => drawn % items.length;

/** The key of the error that it must answer, or none. */
export function expectResponse(answer: ApiResponse, error: string | null): void {
  const { status, body, text } = answer;
  expect([status, body["key"] ?? null], text).toEqual([error === null ? 200 : 400, error]);
}

import type { AsyncCommand } from "fast-check";
import { expect } from "vitest";

import type { ApiResponse } from "../../stack/api.ts";
import type { RealSystem } from "./real-system.ts";
import type { State } from "./reference.ts";

/** fast-check passes one object through a run; the states in it are immutable. */
export type Model = { state: State; crashes: number };
export type Command = AsyncCommand<Model, RealSystem>;

export const hasVouchers = ({ state }: Readonly<Model>): boolean => state.vouchers.length > 0;

/** Maps any drawn number to the index of an existing item. */
export const pickFrom = (items: readonly unknown[], drawn: number): number => drawn % items.length;

/** Expects the error key, or success when it is null. */
export function expectResponse(response: ApiResponse, error: string | null): void {
  const { status, body, text } = response;
  expect([status, body["key"] ?? null], text).toEqual([error === null ? 200 : 400, error]);
}

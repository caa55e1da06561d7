const DEFAULT_LIMIT = 10n;

/** Where a page begins (spec/campaigns-loyalty-platform.md §3); the contract has checked its bounds. */
export function pageOf(request: {
  readonly limit?: bigint | undefined;
  readonly page?: bigint | undefined;
}): { readonly limit: number; readonly offset: number } {
  const limit = Number(request.limit ?? DEFAULT_LIMIT);
  return { limit, offset: (Number(request.page ?? 1n) - 1) * limit };
}

import type { ImportedVoucher } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

/**
 * Replaces the categories of vouchers, names or ids, by ids; new names create categories. An id that does not exist is a
 * name.
 */
export async function resolveCategories(
  { categories }: Pick<Clients, "categories">,
  call: Call,
  items: readonly ImportedVoucher[],
): Promise<readonly ImportedVoucher[]> {
  const names = [...new Set(items.flatMap(({ voucher }) => voucher?.category ?? []))];
  if (names.length === 0) return items;
  const { id: projectId } = call.project;
  const idsOf = async (
    queries: readonly { readonly name: string; readonly id?: string }[],
  ): Promise<ReadonlyMap<string, string>> => {
    if (queries.length === 0) return new Map();
    const { results } = await categories.resolveCategories(
      {
        queries: queries.map(({ name, id }) => ({
          projectId,
          ...(id === undefined ? { name } : { id }),
        })),
      },
      { ...call, idempotency: undefined },
    );
    return new Map(
      results.flatMap(({ category }, index) => {
        const name = queries[index]?.name;
        return category === undefined || name === undefined ? [] : [[name, category.id] as const];
      }),
    );
  };
  const byId = await idsOf(
    names.filter((name) => name.startsWith("cat_")).map((name) => ({ name, id: name })),
  );
  const byName = await idsOf(names.filter((name) => !byId.has(name)).map((name) => ({ name })));
  return items.map((item) => {
    const { voucher } = item;
    if (voucher?.category === undefined) return item;
    const { category, ...rest } = voucher;
    const categoryId = byId.get(category) ?? byName.get(category);
    return { ...item, voucher: { ...rest, ...(categoryId !== undefined && { categoryId }) } };
  });
}

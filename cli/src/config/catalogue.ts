import { encode } from "../commands/arguments.ts";
import { HttpError, type JsonObject } from "../http.ts";
import type { ProjectApi } from "./project-api.ts";

/** Products and SKUs are not part of the file: references use their `source_id`. */
const CATALOGUE = [
  { prefix: "prod_", name: "products" },
  { prefix: "sku_", name: "skus" },
] as const;

/** Whether the path refers to the catalogue, which the file does not describe. */
export const isCataloguePath = (path: string): boolean =>
  CATALOGUE.some(({ name }) => path.startsWith(`${name}/`));

/** Paths of the products and SKUs with these ids; those that are deleted have none, and keep their id in the file. */
export async function findCataloguePaths(
  api: ProjectApi,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  for (const id of ids) {
    const resource = CATALOGUE.find(({ prefix }) => id.startsWith(prefix));
    if (resource === undefined) continue;
    const found = await findResource(api, `/v1/${resource.name}/${id}`);
    const source = found?.["source_id"];
    if (typeof source === "string") paths.set(id, `${resource.name}/${source}`);
  }
  return paths;
}

/** Ids of the products and SKUs at these paths; other paths and those of nothing have none. */
export async function findCatalogueIds(
  api: ProjectApi,
  paths: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const path of paths) {
    if (!isCataloguePath(path)) continue;
    const [resource = "", ...source] = path.split("/");
    const found = await findResource(api, `/v1/${resource}/${encode(source.join("/"))}`);
    // The path of no product, such as `products/`, is that of the list.
    if (typeof found?.["id"] === "string") ids.set(path, found["id"]);
  }
  return ids;
}

const findResource = (api: ProjectApi, path: string): Promise<JsonObject | null> =>
  api.call("GET", path).catch((error: unknown) => {
    if (error instanceof HttpError && error.status === 404) return null;
    throw error;
  });

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";

/** A folder with migrations, and whose schema they create. */
export type MigratedPart = {
  readonly schema: string;
  readonly role: string;
  readonly folder: string;
};

const ROOT = path.join(import.meta.dirname, "../../../..");

/** The gateway, the services and the shared packages that have migrations. */
export async function findMigratedParts(): Promise<readonly MigratedPart[]> {
  const places = ["gateway", ...(await under("services")), ...(await under("services/shared"))];
  return places.flatMap((place) => {
    const folder = path.join(ROOT, place, "migrations");
    const schema = path.basename(place);
    return existsSync(folder) ? [{ schema, role: `scrip_${schema}`, folder }] : [];
  });
}

async function under(folder: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(ROOT, folder), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${folder}/${entry.name}`)
    .toSorted();
}

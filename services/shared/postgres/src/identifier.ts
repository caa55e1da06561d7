const IDENTIFIER = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Schemas and roles are defined by this code and are written unquoted in SQL and in start options: a name
 * that would need quotes is a mistake.
 */
export function assertIdentifier(name: string): void {
  if (!IDENTIFIER.test(name))
    throw new RangeError(`${JSON.stringify(name)} is no plain identifier`);
}

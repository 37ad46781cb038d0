/** A header section of given fields. */

import { FieldTable } from '../../src/http/wire/field-table.ts'

/**
 * @param pairs name, value, …
 * @throws if one is malformed
 */
export function fieldTable(...pairs: readonly string[]): FieldTable {
  const fields = FieldTable.of(pairs)
  if (fields === null) throw new Error(`malformed fields: ${JSON.stringify(pairs)}`)
  return fields
}

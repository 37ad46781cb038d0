/** Reads a file with the Seats of a tenant. */

import { isPermission } from '../../seats-admin/model/permission.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import { isTenantId } from '../../seats-admin/model/tenant.ts'
import { ConfigError, sortFaults } from './faults.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { openDocument } from './open-document.ts'
import { readSource, type Source } from './read-file.ts'
import type { Section } from './section.ts'
import { spaceId } from './space-settings.ts'

export type SeatsFile = Awaited<ReturnType<typeof readSeatsFile>>

export interface SeatOfFile extends SeatInput {
  /** Its former name: the Seat is renamed. */
  readonly was?: string
}

/**
 * @param source of what is no file; `file` is its name in messages then
 * @throws ConfigError with every fault of the file
 */
export async function readSeatsFile(file: string, env: NodeJS.ProcessEnv, source?: Source) {
  const { document, root } = openDocument(file, source ?? (await readSource(file)), 'seats', env)
  const tenant = root.text('tenant', tenantId) ?? ''
  const seats = seatsOf(root.section('seats'))
  if (document.faults.length > 0) throw new ConfigError(sortFaults(document.faults))
  return { tenant, seats }
}

/** Seats by name. */
export function seatsOf(all: Section): SeatOfFile[] {
  return all.keys().map((name) => {
    const seat = all.section(name)
    const was = seat.text('was', (text) => text)
    const lists = {
      spaces: seat.texts('spaces', spaceId),
      permissions: seat.texts('permissions', permission),
    }
    return { name, ...lists, ...(was === undefined ? {} : { was }) }
  })
}

export const tenantId: ValueParser<string> = (text) =>
  isTenantId(text)
    ? text
    : new InvalidValue('is not a tenant id: 1 to 63 lower-case letters, digits and -, not beginning with -')

const permission: ValueParser<string> = (text) =>
  isPermission(text) ? text : new InvalidValue('is not a permission <resource>:<operation>, or *')

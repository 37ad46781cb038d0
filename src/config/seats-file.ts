/** Reads a file with the Seats of a tenant. */

import { isPermission } from '../../seats-admin/model/permission.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import { isTenantId } from '../../seats-admin/model/tenant.ts'
import { ConfigError, sortFaults } from './faults.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { openDocument } from './open-document.ts'
import { readSource, type Source } from './read-file.ts'
import { asWritten, file, list, map, mapOf, required, text } from './setting.ts'
import { spaceId } from './space-settings.ts'

export const tenantId: ValueParser<string> = (text) =>
  isTenantId(text)
    ? text
    : new InvalidValue('is not a tenant id: 1 to 63 lower-case letters, digits and -, not beginning with -')

export const permission: ValueParser<string> = (text) =>
  isPermission(text) ? text : new InvalidValue('is not a permission <resource>:<operation>, or *')

const seat = map('What the holders of the Seat may do, and where.', {
  spaces: required(list('Ids of spaces.', spaceId, { examples: [['main']] })),
  permissions: required(
    list('Permissions, resource:operation, or * for all.', permission, {
      examples: [['trainings:list', 'trainings:read']],
    }),
  ),
  was: text("The Seat's former name: the Seat is renamed.", asWritten, { examples: ['Reader'] }),
})

export const seatsFile = file('Seatgate Seats', 'The Seats of one tenant, in a file.', {
  tenant: required(
    text('Id of the tenant in gateway.config.yaml.', tenantId, { placeholder: '', examples: ['acme'] }),
  ),
  seats: required(mapOf(seat, 'Seats by name.')),
})

export type SeatsFile = Awaited<ReturnType<typeof readSeatsFile>>

interface SeatOfFile extends SeatInput {
  /** The former name of a renamed Seat. */
  readonly was?: string
}

/**
 * @param name the path of the file, or the name of `source` in messages
 * @param source the content, if it is not from a file
 * @throws ConfigError with every fault of the file
 */
export async function readSeatsFile(name: string, env: NodeJS.ProcessEnv, source?: Source) {
  const { document, root } = openDocument(name, source ?? (await readSource(name)), seatsFile.schema, env)
  const { tenant, seats } = seatsFile.of(root)
  if (document.faults.length > 0) throw new ConfigError(sortFaults(document.faults))
  return { tenant, seats: [...seats].map(seatOf) }
}

function seatOf([name, { was, ...lists }]: [string, ReturnType<typeof seat.of>]): SeatOfFile {
  return { name, ...lists, ...(was === null ? {} : { was }) }
}

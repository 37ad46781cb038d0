/** Changes of a SCIM user that depend on its state. */

import { matches, scimTag } from '../model/entity-tag.ts'
import {
  isScimRefusal,
  type ScimMode,
  type ScimRefusal,
  type ScimUser,
  type ScimUserInput,
} from '../model/scim.ts'
import { scimNotFound, scimPreconditionFailed, scimUnavailable } from './scim-rules.ts'
import type { ScimStore, ScimWritten } from './scim-store.ts'
import type { Writer } from './writer.ts'

/** The most attempts. An attempt fails if another write has changed the user since it was read. */
const ATTEMPTS = 20

/**
 * Changes a user as `edit` says, on a state that no other write has changed. A transaction may run in another
 * thread, which no function can be sent to: so the user is read, edited and written if it still is what was
 * read, or else read again.
 *
 * @param edit has no effect but its result, as it may be called several times
 */
export async function editScimUser<R extends { readonly refused: string }>(
  store: Pick<ScimStore, 'readScimUser' | 'updateScimUser'>,
  writer: Writer,
  { mode, id }: { readonly mode: ScimMode; readonly id: string },
  edit: (user: ScimUser) => ScimUserInput | R | Promise<ScimUserInput | R>,
): Promise<ScimWritten<ScimUser> | ScimRefusal | R> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const user = await store.readScimUser(writer.tenant, id)
    if (user === null) return scimNotFound
    if (!matches(writer.ifMatch ?? null, scimTag(user))) return scimPreconditionFailed
    const input = await edit(user)
    if ('refused' in input) return input
    const written = await store.updateScimUser(writer, mode, id, user.version, input)
    if (!isScimRefusal(written) || written.refused !== 'changed') return written
  }
  return scimUnavailable('Other requests change this user all the time.')
}

/** The user of a question, named by `sub` or by an email address that one signed-in user has. */

import type { Scope, Store } from '../../seats-admin/index.ts'
import { seatsHeld, type User } from '../../seats-admin/model/user.ts'
import { type AdminRefusal, inputInvalid } from '../../seats-admin/model/refusal.ts'

/** An email address, as far as it matters here: a part of one would match many users. */
const ADDRESS = /^[^@]+@[^@]+$/

/** The number of users of a page. */
const PAGE = 100

/** The most pages that are searched. Each uses the store's thread for lists for a moment. */
const MOST_PAGES = 50

/** The most names of users in a message. */
const MOST_NAMED = 10

const tooMany = inputInvalid([
  { path: '/user', message: 'there are too many users to find an address among them; give a sub' },
])

type UserReader = Pick<Store, 'readUser' | 'listUsers' | 'seatByName'>

interface Asker {
  readonly tenant: string
  readonly scope: Scope
}

/**
 * The `sub` of a user. A text with an `@` that is the `sub` of a user is that user, whatever address others
 * have.
 *
 * @returns the text itself if no user that the asker sees has this address
 */
export async function namedUser(
  text: string,
  asker: Asker,
  store: UserReader,
): Promise<string | AdminRefusal> {
  if (!ADDRESS.test(text)) return text
  const { tenant } = asker
  const scope = { ...asker.scope, admin: true }
  const ofSub = await store.readUser(tenant, text, scope)
  if (ofSub !== null && (await isSeen(ofSub, asker, store))) return text
  const subs: string[] = []
  const address = text.toLowerCase()
  let pages = 0
  for (let after: string | null = null, isWhole = false; !isWhole && subs.length <= MOST_NAMED;) {
    // The answer is not "unknown", which would not be proven.
    if (++pages > MOST_PAGES) return tooMany
    const { data, next } = await store.listUsers(tenant, { limit: PAGE, after, scope, q: text })
    for (const user of data)
      if (user.email?.toLowerCase() === address && (await isSeen(user, asker, store))) subs.push(user.sub)
    after = next
    isWhole = next === null
  }
  const [only = text, ...others] = subs
  if (others.length === 0) return only
  const some = subs.slice(0, MOST_NAMED).join(', ')
  return inputInvalid([{ path: '/user', message: `several users have this address; give a sub: ${some}` }])
}

/** Whether the asker sees the user: outside the admin space, by a Seat that lists the asker's space. */
async function isSeen(user: User, { tenant, scope }: Asker, store: UserReader): Promise<boolean> {
  if (scope.admin) return true
  for (const { name } of seatsHeld(user))
    if ((await store.seatByName(tenant, name)).value.seat?.spaces.includes(scope.space)) return true
  return false
}

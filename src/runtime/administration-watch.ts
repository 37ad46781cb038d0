/**
 * Watches whether someone can administer a tenant after its identity provider has written by SCIM: the
 * departure of the last administrator is not refused.
 */

import { isAdministered, type Store } from '../../seats-admin/index.ts'
import type { SignInPorts } from './sign-in.ts'

interface WatchedTenant {
  readonly id: string
  readonly adminSpace: string
}

export class AdministrationWatch {
  readonly #log: SignInPorts['log']
  /** The tenants without an administrator at the last look. */
  readonly #lacking = new Set<string>()
  /** The tenants that are being looked at; true: once more after that. */
  readonly #looking = new Map<string, boolean>()
  #losses = 0

  constructor(log: SignInPorts['log']) {
    this.#log = log
  }

  /** How often a tenant was found without an administrator that had one, or had not been looked at. */
  get losses(): number {
    return this.#losses
  }

  /** Looks at the tenant in the background: one look at a time, however many writes there are. */
  look(store: Pick<Store, 'isAdministered'>, tenant: WatchedTenant): void {
    const isLooking = this.#looking.has(tenant.id)
    this.#looking.set(tenant.id, isLooking)
    if (isLooking) return
    void this.#look(store, tenant).finally(() => {
      const isDue = this.#looking.get(tenant.id) === true
      this.#looking.delete(tenant.id)
      if (isDue) this.look(store, tenant)
    })
  }

  async #look(store: Pick<Store, 'isAdministered'>, { id, adminSpace }: WatchedTenant): Promise<void> {
    try {
      if (await isAdministered(store, id, adminSpace)) {
        if (this.#lacking.delete(id))
          this.#log.info({ event: 'administered', tenant: id }, 'the tenant can be administered again')
        return
      }
      if (this.#lacking.has(id)) return
      this.#lacking.add(id)
      this.#losses++
      this.#log.error(
        { event: 'nobody_administers', tenant: id },
        'after a write by SCIM, no API key in force and no active user can administer the tenant: run seatgate bootstrap where the store is, or correct the groups at the identity provider',
      )
    } catch (cause) {
      this.#log.warn(
        { tenant: id, cause: String(cause) },
        'it is not known whether the tenant is administered',
      )
    }
  }
}

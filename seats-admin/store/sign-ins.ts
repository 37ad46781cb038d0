/** SQL of the table of users that both drivers share. */

import type { SignedInIdentity } from '../model/user.ts'
import { replaceUnstorable } from './storable-text.ts'

/**
 * Inserts or updates a user. The same sign-in once more, or a late one, changes nothing.
 *
 * @param source the row: `VALUES …` or `SELECT …`
 */
export function insertUser(source: string): string {
  return `INSERT INTO users AS u (tenant, sub, email, name, last_sign_in) ${source} ON CONFLICT (tenant, sub)
    DO UPDATE SET email = excluded.email, name = excluded.name, last_sign_in = excluded.last_sign_in
    WHERE u.last_sign_in IS NULL OR u.last_sign_in < excluded.last_sign_in`
}

export function signInValues(tenant: string, { sub, email, name, at }: SignedInIdentity) {
  return {
    tenant,
    sub,
    email: email === null ? null : replaceUnstorable(email),
    name: name === null ? null : replaceUnstorable(name),
    at,
  }
}

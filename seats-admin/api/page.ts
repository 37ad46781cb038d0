/** Parses the query of the list endpoints: `limit` and `after`, each at most once. */

import { type AdminFault, type AdminRefusal, inputInvalid, MAX_FAULTS } from '../model/refusal.ts'
import { isUlid } from '../model/ulid.ts'
import { pointerTo } from './pointer.ts'

const DEFAULT_LIMIT = 20
/** 1 to 100, without leading zeros. */
const LIMIT = /^(?:100|[1-9][0-9]?)$/

/** @param query without the `?` */
export function readPage(query: string): { limit: number; after: string | null } | AdminRefusal {
  const parameters = new URLSearchParams(query)
  const limit = parameters.get('limit')
  const after = parameters.get('after')
  const faults: AdminFault[] = []
  for (const name of new Set(parameters.keys())) {
    const message = faultOf(name, parameters)
    if (message !== null) faults.push({ path: pointerTo('', name), message })
  }
  if (faults.length > 0) return inputInvalid(faults.slice(0, MAX_FAULTS))
  return { limit: limit === null ? DEFAULT_LIMIT : Number(limit), after }
}

function faultOf(name: string, parameters: URLSearchParams): string | null {
  const [value = '', ...more] = parameters.getAll(name)
  if (name !== 'limit' && name !== 'after') return 'is not a known parameter'
  if (more.length > 0) return 'must not occur more than once'
  if (name === 'limit') return LIMIT.test(value) ? null : 'must be a whole number from 1 to 100'
  return isUlid(value) ? null : 'must be the id of the last item before the page'
}

/** Ids of spaces and tenants. */

import t from 'tap'
import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { isTenantId } from '../../../seats-admin/model/tenant.ts'

t.test('space ids', async (t) => {
  for (const yes of ['a', 'A', '0', 'a.b_c~d-e', `a${'b'.repeat(127)}`]) t.equal(isSpaceId(yes), true, yes)
  for (const no of [
    '',
    '.a',
    '-a',
    '_a',
    '~a',
    'a:b',
    'a b',
    'a,b',
    'a\n',
    'ä',
    'a/b',
    'a%',
    `a${'b'.repeat(128)}`,
  ]) {
    t.equal(isSpaceId(no), false, JSON.stringify(no))
  }
})

t.test('tenant ids', async (t) => {
  for (const yes of ['a', '0', 'acme', 'a-b', 'a-', `a${'b'.repeat(62)}`]) t.equal(isTenantId(yes), true, yes)
  for (const no of ['', '-a', 'A', 'a_b', 'a.b', 'a b', 'a\n', 'ä', `a${'b'.repeat(63)}`]) {
    t.equal(isTenantId(no), false, JSON.stringify(no))
  }
})

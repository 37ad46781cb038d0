import t from 'tap'
import { holds, isPermission } from '../../../seats-admin/model/permission.ts'

t.test('the grammar', async (t) => {
  for (const yes of ['*', 'trainings:list', 'a:b', 'A.b_c-9:Z.', '-:-', '.:.', '0:0']) {
    t.equal(isPermission(yes), true, yes)
  }
  const no = [
    '',
    ':',
    'a',
    'a:',
    ':b',
    'a:b:c',
    'trainings:*',
    '*:*',
    '*:list',
    '**',
    ' *',
    '* ',
    'a:b ',
    ' a:b',
  ]
  for (const each of [
    ...no,
    'a:b\n',
    '*\n',
    'a\n:b',
    'a:b\0',
    'ä:b',
    'a:b/c',
    'a b:c',
    'a:b,c:d',
    'authenticated',
    'public',
  ]) {
    t.equal(isPermission(each), false, JSON.stringify(each))
  }
})

t.test('a permission is held by name or through *', async (t) => {
  t.equal(holds(new Set(['a:b']), 'a:b'), true)
  t.equal(holds(new Set(['*']), 'a:b'), true)
  t.equal(holds(new Set(['*']), '*'), true)
  t.equal(holds(new Set(), 'a:b'), false)
  t.equal(holds(new Set(['a:b']), 'a:B'), false, 'case-sensitive')
  t.equal(holds(new Set(['a:b', 'a:c']), '*'), false, '* is held through * only')
  t.equal(holds(new Set(['a:*']), 'a:b'), false, 'no other wildcards')
})

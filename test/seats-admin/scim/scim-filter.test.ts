/**
 * Filters of lists: what providers send is understood, and anything else is refused, never read as less than
 * it says.
 */

import t from 'tap'
import { groupFilter, userFilter } from '../../../seats-admin/scim/scim-filter.ts'
import { ScimFault } from '../../../seats-admin/scim/scim-fault.ts'

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'

t.test('filters of users', async (t) => {
  const cases: Readonly<Record<string, object>> = {
    'userName eq "a@b.example"': { userName: 'a@b.example' },
    'USERNAME EQ "Alice"': { userName: 'Alice' },
    [`${USER}:userName eq "x"`]: { userName: 'x' },
    [`${USER.toUpperCase()}:USERNAME eq "x"`]: { userName: 'x' },
    '  externalId\teq  "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"  ': {
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    },
    'displayName eq "Ann \\"A\\" \\u00e4"': { displayName: 'Ann "A" ä' },
    'emails[type eq "work"].value eq "a@b.example"': { email: 'a@b.example' },
    'Emails[Type Eq "Work"].Value Eq "a@b.example"': { email: 'a@b.example' },
    'emails[ type eq "work" ].value eq "a"': { email: 'a' },
    'userName eq "a" and externalId eq "b"': { userName: 'a', externalId: 'b' },
    'userName eq "a" AND displayName eq "b and c eq \\"d\\""': {
      userName: 'a',
      displayName: 'b and c eq "d"',
    },
    'userName eq "] or userName pr"': { userName: '] or userName pr' },
    'userName eq ""': { userName: '' },
  }
  for (const [text, expected] of Object.entries(cases)) t.strictSame(userFilter(text), expected, text)
})

t.test('filters of groups', async (t) => {
  t.strictSame(groupFilter('displayName eq "Editor"'), { displayName: 'Editor' })
  t.strictSame(groupFilter('externalId eq "8aa1a0c0"'), { externalId: '8aa1a0c0' })
  t.strictSame(groupFilter('members.value eq "x" and displayName eq "Editor"'), {
    member: 'x',
    displayName: 'Editor',
  })
})

t.test('anything else is refused', async (t) => {
  const user = [
    ...[
      '',
      ' ',
      '*',
      'userName',
      'userName eq',
      'userName pr',
      'userName eq "a" and',
      'and',
      'eq',
      '"a" eq "b"',
    ],
    ...['userName sw "a"', 'userName co "a"', 'userName ne "a"', 'userName gt "a"', 'not (userName eq "a")'],
    ...['userName eq "a" or userName eq "b"', '(userName eq "a")', 'userName eq "a" userName eq "b"'],
    ...['userName eq a', "userName eq 'a'", 'userName eq true', 'userName eq null', 'userName eq 1'],
    ...[
      'userName eq "a',
      'userName eq "a\\"',
      'userName eq "\\x"',
      'userName eq "a\nb"',
      'userName eq "a""b"',
    ],
    ...['userName eq "\\u0000"', 'userName eq "\\ud800"', 'userName eq "a"]', 'userName[eq "a"]'],
    ...['id eq "a"', 'active eq true', 'meta.created eq "x"', 'members.value eq "x"', 'password eq "x"'],
    ...[
      'emails eq "a"',
      'emails.value eq "a"',
      'emails[type eq "home"].value eq "a"',
      'emails[type eq "work"] eq "a"',
    ],
    ...[
      'emails[type eq "work" and primary eq true].value eq "a"',
      'emails[].value eq "a"',
      'emails[type eq "work".value eq "a"',
    ],
    ...[
      'emails[type eq "work"].display eq "a"',
      'emails[emails[type eq "work"].type eq "work"].value eq "a"',
    ],
    ...[
      'userName.x eq "a"',
      'userName.x.y eq "a"',
      '.userName eq "a"',
      'name.familyName eq "a"',
      'urn:x:userName eq "a"',
    ],
    ...[
      '__proto__ eq "a"',
      'constructor eq "a"',
      'userName eq "a" and userName eq "a"',
      'userName eq "a"; drop',
    ],
    ...[`userName eq "${'a'.repeat(5000)}"`, `${'userName eq "a" and '.repeat(500)}userName eq "a"`],
    ...[`${'emails['.repeat(500)}type eq "work"${']'.repeat(500)}.value eq "a"`],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "a"',
    'urn:ietf:params:scim:schemas:core:2.0:Group:displayName eq "a"',
  ]
  for (const text of user) {
    const fault = userFilter(text)
    t.ok(fault instanceof ScimFault && fault.scimType === 'invalidFilter' && fault.status === 400, text)
  }
  for (const text of ['userName eq "a"', 'members eq "a"', 'members[value eq "a"]', 'members.display eq "a"'])
    t.match(groupFilter(text), { scimType: 'invalidFilter' }, text)
})

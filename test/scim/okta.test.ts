/**
 * What Okta sends: the tests of its set-up, then users and groups, as its documents of SCIM 2.0 describe
 * them. Not tried against Okta itself.
 */

import t from 'tap'
import { GROUP, run, startScim, type Step, USER } from './support.ts'

const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const patch = (...Operations: readonly object[]) => ({ schemas: [PATCH], Operations })

const ALICE = {
  schemas: [USER],
  userName: 'alice@acme.example',
  name: { givenName: 'Alice', familyName: 'Doe' },
  emails: [{ primary: true, value: 'alice@acme.example', type: 'work' }],
  displayName: 'Alice Doe',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
}

const SET_UP: readonly Step[] = [
  { does: 'tests the connection', request: ['GET', '/ServiceProviderConfig'], status: 200 },
  {
    does: 'tests users',
    request: ['GET', '/Users?startIndex=1&count=2'],
    status: 200,
    has: { schemas: [LIST], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
  },
  {
    does: 'tests groups',
    request: ['GET', '/Groups?startIndex=1&count=100'],
    status: 200,
    has: { totalResults: 0, Resources: [] },
  },
  {
    does: 'looks for a user that cannot be',
    request: ['GET', '/Users/010101001010101011001010101011'],
    status: 404,
    has: { schemas: [ERROR], status: '404' },
  },
]

const find = `/Users?filter=${encodeURIComponent('userName eq "alice@acme.example"')}&startIndex=1&count=100`

const ASSIGN: readonly Step[] = [
  { does: 'looks for the user', request: ['GET', find], status: 200, has: { totalResults: 0 } },
  {
    does: 'creates the user',
    request: ['POST', '/Users', ALICE],
    status: 201,
    has: { userName: 'alice@acme.example', active: true, meta: { resourceType: 'User' } },
    as: 'alice',
  },
  {
    does: 'creates it again',
    request: ['POST', '/Users', ALICE],
    status: 409,
    has: { scimType: 'uniqueness' },
  },
  {
    does: 'finds it',
    request: ['GET', find],
    status: 200,
    has: { totalResults: 1, Resources: [{ id: '{alice}' }] },
  },
  { does: 'reads it', request: ['GET', '/Users/{alice}'], status: 200, has: { id: '{alice}' } },
]

t.test('a custom application, which sends PUT for users', async (t) => {
  const scim = await startScim(t)
  await run(t, scim, [
    ...SET_UP,
    ...ASSIGN,
    {
      does: 'updates the profile',
      request: [
        'PUT',
        '/Users/{alice}',
        { ...ALICE, id: '{alice}', name: { givenName: 'Ally', familyName: 'Doe' } },
      ],
      status: 200,
      has: { name: { givenName: 'Ally' }, active: true },
    },
    {
      does: 'deactivates',
      request: ['PUT', '/Users/{alice}', { ...ALICE, active: false, meta: { resourceType: 'User' } }],
      status: 200,
      has: { active: false },
    },
    { does: 'still finds it', request: ['GET', find], status: 200, has: { Resources: [{ active: false }] } },
    {
      does: 'activates again',
      request: ['PUT', '/Users/{alice}', { ...ALICE, active: true }],
      status: 200,
      has: { active: true },
    },
    {
      does: 'pushes a group',
      request: [
        'POST',
        '/Groups',
        {
          schemas: [GROUP],
          displayName: 'Viewer',
          members: [{ value: '{alice}', display: 'alice@acme.example' }],
        },
      ],
      status: 201,
      has: { displayName: 'Viewer', members: [{ value: '{alice}' }] },
      as: 'viewer',
    },
    {
      does: 'pushes it as a whole',
      request: [
        'PUT',
        '/Groups/{viewer}',
        { schemas: [GROUP], id: '{viewer}', displayName: 'Viewer', members: [] },
      ],
      status: 200,
      has: { displayName: 'Viewer', members: [] },
    },
    { does: 'deletes the group', request: ['DELETE', '/Groups/{viewer}'], status: 204 },
    { does: 'asks for it', request: ['GET', '/Groups/{viewer}'], status: 404 },
  ])
})

t.test('an application of its catalogue, which sends PATCH', async (t) => {
  const scim = await startScim(t)
  const ids = await run(t, scim, [
    ...SET_UP,
    ...ASSIGN,
    {
      does: 'deactivates',
      request: ['PATCH', '/Users/{alice}', patch({ op: 'replace', value: { active: false } })],
      status: 200,
      has: { active: false },
    },
    {
      does: 'activates',
      request: ['PATCH', '/Users/{alice}', patch({ op: 'replace', value: { active: true } })],
      status: 200,
      has: { active: true },
    },
    {
      does: 'creates another',
      request: ['POST', '/Users', { ...ALICE, userName: 'bob@acme.example', externalId: '00ub' }],
      status: 201,
      as: 'bob',
    },
    {
      does: 'looks for the group',
      request: [
        'GET',
        `/Groups?filter=${encodeURIComponent('displayName eq "Viewer"')}&startIndex=1&count=100`,
      ],
      status: 200,
      has: { totalResults: 0 },
    },
    {
      does: 'pushes a group',
      request: ['POST', '/Groups', { schemas: [GROUP], displayName: 'Viewer', members: [] }],
      status: 201,
      as: 'viewer',
    },
    {
      does: 'renames it',
      request: [
        'PATCH',
        '/Groups/{viewer}',
        patch({ op: 'replace', value: { id: '{viewer}', displayName: 'Editor' } }),
      ],
      status: 204,
    },
    {
      does: 'sets all members',
      request: [
        'PATCH',
        '/Groups/{viewer}',
        patch(
          { op: 'remove', path: 'members[value eq "{bob}"]' },
          {
            op: 'add',
            path: 'members',
            value: [
              { value: '{alice}', display: 'alice@acme.example' },
              { value: '{bob}', display: 'bob@acme.example' },
            ],
          },
        ),
      ],
      status: 204,
    },
    {
      does: 'removes one',
      request: ['PATCH', '/Groups/{viewer}', patch({ op: 'remove', path: 'members[value eq "{bob}"]' })],
      status: 204,
    },
    {
      does: 'replaces all',
      request: [
        'PATCH',
        '/Groups/{viewer}',
        patch({ op: 'replace', path: 'members', value: [{ value: '{bob}', display: 'bob@acme.example' }] }),
      ],
      status: 204,
    },
    {
      does: 'reads it',
      request: ['GET', '/Groups/{viewer}'],
      status: 200,
      has: { displayName: 'Editor', members: [{ value: '{bob}' }] },
    },
  ])
  t.same(await scim.members(ids.get('viewer') ?? ''), [ids.get('bob')])
})

t.test('no password is kept, in the store or in the log', async (t) => {
  const scim = await startScim(t)
  await run(t, scim, ASSIGN)
  t.notMatch(scim.world.logText(), ALICE.password)
  t.notMatch((await scim.send('GET', '/Users')).body, /password|1mz050nq/)
})

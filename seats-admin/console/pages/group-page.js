/** A group of SCIM: the Seat that it gives, its members and its history. */

import { hrefOf } from '../address.js'
import { call, Refused } from '../gateway-calls.js'
import { History } from '../history.js'
import { useList, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { countText, Facts, Name, Table } from '../pieces.js'
import { givenBy } from '../seat-sources.js'
import { ListEnd, PageHeading, whenLoaded } from '../states.js'
import { SeatOf } from './groups-page.js'

/** @typedef {import('../answers.d.ts').ScimMember} ScimMember */

const NO_SUCH_GROUP = {
  status: 404,
  code: 'group_unknown',
  title: 'No such group',
  detail: 'No group has this id, as far as you may see. The provider may have deleted it.',
}

/** @param {{ rest: string[] }} props */
export function GroupPage({ rest: [id = ''] }) {
  const group = useLoaded(
    async (signal) => {
      const { data } = await call('GET', '/v1/scim/groups', { query: { id }, signal })
      const [value] = data
      if (value === undefined) throw new Refused(NO_SUCH_GROUP)
      return value
    },
    [id],
  )
  const { value } = group
  return html`
    <${PageHeading}
      title=${value?.display_name ?? 'Group'}
      back=${{ href: hrefOf(['groups']), text: 'Groups' }}
    />
    ${whenLoaded(
      group,
      'Group',
      (shown) => html`
        <p class="lead">Only the provider changes it, by SCIM. ${givenBy('groups')}</p>
        <${Facts}
          rows=${[
            ['Id', html`<code>${shown.id}</code>`],
            ['Seat', html`<${SeatOf} group=${shown} />`],
            [
              'Members',
              `${countText(shown.member_count, 'member')}, of whom ${countText(shown.active_count, 'is active', 'are active')}`,
            ],
          ]}
        />
        <${Members} id=${shown.id} />
        <${History} id=${shown.id} version=${shown.id} />
      `,
    )}
  `
}

/** @param {{ id: string }} props */
function Members({ id }) {
  const members = useList('/v1/scim/members', { query: { group: id } })
  return html`<section>
    <h2>Members</h2>
    <${Table}
      label="Members"
      columns=${[['User'], ['Name', 'wide-only'], ['State']]}
      rows=${members.items.map(
        (member) =>
          html`<tr key=${member.id}>
            <th scope="row"><${Member} of=${member} /></th>
            <td class="wide-only">
              ${member.display_name === null ? html`<span class="quiet">–</span>` : html`<${Name} of=${member.display_name} />`}
            </td>
            <td>
              ${member.active ? html`<span class="quiet">active</span>` : html`<span class="badge">not active</span>`}
            </td>
          </tr>`,
      )}
    />
    <${ListEnd} of=${members} what="Members" none=${html`<p class="quiet">None.</p>`} />
  </section>`
}

/** With a claim as the key, one SCIM user may be several callers, or none before the first sign-in. */
function Member(/** @type {{ of: ScimMember }} */ { of: { user_name: name, users } }) {
  const [only, ...others] = users
  if (only === undefined)
    return html`<${Name} of=${name} /> <span class="quiet">not known by a sign-in</span>`
  if (others.length === 0) return html`<a href=${hrefOf(['users'], { sub: only })}><${Name} of=${name} /></a>`
  return html`<${Name} of=${name} />${users.map(
      (sub) => html` <a key=${sub} href=${hrefOf(['users'], { sub })}><${Name} of=${sub} /></a>`,
    )}`
}

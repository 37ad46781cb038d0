/** The groups of SCIM, which the identity provider keeps here: searched by the gateway, to read only. */

import { hrefOf } from '../address.js'
import { FilterField, useFilterForm } from '../filters.js'
import { useList } from '../loading.js'
import { html } from '../markup.js'
import { Name, number, Table } from '../pieces.js'
import { Empty, ListEnd, PageHeading } from '../states.js'
import { givenBy } from '../seat-sources.js'

/** @typedef {import('../answers.d.ts').ScimGroup} ScimGroup */

export function GroupsPage() {
  const { filter, setFilter, draft, change } = useFilterForm(['q'])
  const groups = useList('/v1/scim/groups', { query: { q: filter.q } })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setFilter({ q: (draft.q ?? '').trim() })
  }
  return html`
    <${PageHeading} title="Groups" />
    <p class="lead">The groups that the identity provider keeps here by SCIM. ${givenBy('groups')}</p>
    <search>
      <form class="filters" onSubmit=${submit}>
        <${FilterField} label="Part of a name" name="q" of=${draft} onInput=${change} />
        <button type="submit" class="button">Search</button>
      </form>
    </search>
    <${Table}
      label="Groups"
      columns=${[['Group'], ['Members'], ['Active'], ['Seat']]}
      rows=${groups.items.map(
        (group) =>
          html`<tr key=${group.id}>
            <th scope="row">
              <a href=${hrefOf(['groups', group.id])}><${Name} of=${group.display_name} /></a>
            </th>
            <td>${number(group.member_count)}</td>
            <td>${number(group.active_count)}</td>
            <td><${SeatOf} group=${group} /></td>
          </tr>`,
      )}
    />
    <${ListEnd}
      of=${groups}
      what="Groups"
      none=${html`<${Empty}><p>${filter.q ? 'No group matches.' : 'The provider has sent no group yet.'}</p><//>`}
    />
  `
}

/** The Seat of the name of a group. @param {{ group: ScimGroup }} props */
export function SeatOf({ group: { display_name: name, seat_id: id, gives_seat: gives } }) {
  if (id === null) return html`<span class="quiet">no Seat has this name</span>`
  return html`<a href=${hrefOf(['seats', id])}><${Name} of=${name} /></a
    >${!gives && html` <span class="quiet">not given yet</span>`}`
}

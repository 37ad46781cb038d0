/** The page of users. The gateway searches those that it knows. */

import { hrefOf } from '../address.js'
import { FilterField, useFilterForm } from '../filters.js'
import { useList } from '../loading.js'
import { html } from '../markup.js'
import { Name, Table, Tags, Time } from '../pieces.js'
import { givenBy } from '../seat-sources.js'
import { Empty, ListEnd, PageHeading } from '../states.js'

export function UsersPage() {
  const { filter, setFilter, draft, change } = useFilterForm(['q'])
  const users = useList('/v1/users', { query: { q: filter.q }, idOf: ({ sub }) => sub })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setFilter({ q: (draft.q ?? '').trim() })
  }
  return html`
    <${PageHeading} title="Users" />
    <p class="lead">${givenBy('users')}</p>
    <search>
      <form class="filters" onSubmit=${submit}>
        <${FilterField} label="Part of an id or e-mail address" name="q" of=${draft} onInput=${change} />
        <button type="submit" class="button">Search</button>
      </form>
    </search>
    <${Table}
      label="Users"
      columns=${[['User'], ['Seats'], ['Latest sign-in'], ['State']]}
      rows=${users.items.map(
        ({ sub, email, seats, last_sign_in: at, blocked }) =>
          html`<tr key=${sub}>
            <th scope="row">
              <a href=${hrefOf(['users'], { sub })}><${Name} of=${email ?? sub} /></a>
              ${email !== null && html`<code class="small quiet wide-only"><bdi>${sub}</bdi></code>`}
            </th>
            <td><${Tags} of=${seats} /></td>
            <td><${Time} at=${at} none="none recorded" /></td>
            <td>
              ${blocked ? html`<span class="badge danger">blocked</span>` : html`<span class="quiet">–</span>`}
            </td>
          </tr>`,
      )}
    />
    <${ListEnd}
      of=${users}
      what="Users"
      none=${filter.q ? html`<${NoMatch} q=${filter.q} />` : html`<${Empty}><p>No user is known yet.</p><//>`}
    />
  `
}

/** Tokens of other issuers leave no record of their users. @param {{ q: string }} props */
function NoMatch({ q }) {
  return html`<${Empty}>
    <p>No user matches.</p>
    <p>
      Users of other issuers are not listed, but what they have can be revoked. If this is the whole id of
      one:${' '}
      <a href=${hrefOf(['users'], { sub: q })}><${Name} of=${q} /></a>
    </p>
  <//>`
}

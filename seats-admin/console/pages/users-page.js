/** Users: those who have signed in, searched by the gateway. */

import { useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { Field } from '../fields.js'
import { useFilter } from '../filters.js'
import { useList } from '../loading.js'
import { html } from '../markup.js'
import { Name, Scrolling, Tags, Time } from '../pieces.js'
import { Empty, ListEnd, PageHeading } from '../states.js'

export function UsersPage() {
  const [filter, setFilter] = useFilter(['q'])
  const [text, setText] = useState(filter.q ?? '')
  /** @type {import('../loading.js').Listed<import('../answers.d.ts').User>} */
  const users = useList('/v1/users', { q: filter.q }, ({ sub }) => sub)
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setFilter({ q: text.trim() })
  }
  return html`
    <${PageHeading} title="Users" />
    <p class="lead">Those who have signed in through this gateway, with the Seats of their latest sign-in.</p>
    <search>
      <form class="filters" onSubmit=${submit}>
        <${Field} label="Part of an id or e-mail address" type="search" value=${text} onInput=${setText} />
        <button type="submit" class="button">Search</button>
      </form>
    </search>
    ${
      users.items.length > 0
        ? html`<${Scrolling} label="Users">
            <table>
              <thead>
                <tr>
                  <th scope="col">User</th>
                  <th scope="col">Seats</th>
                  <th scope="col">Latest sign-in</th>
                  <th scope="col">State</th>
                </tr>
              </thead>
              <tbody>
                ${users.items.map(
                  ({ sub, email, seats, last_sign_in: at, blocked }) =>
                    html`<tr key=${sub}>
                      <th scope="row">
                        <a href=${hrefOf(['users'], { sub })}><${Name} of=${email ?? sub} /></a>
                        ${email === null ? null : html`<code class="small quiet wide-only"><bdi>${sub}</bdi></code>`}
                      </th>
                      <td><${Tags} of=${seats} /></td>
                      <td><${Time} at=${at} none="before it was recorded" /></td>
                      <td>
                        ${blocked ? html`<span class="badge danger">blocked</span>` : html`<span class="quiet">–</span>`}
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>
          <//>`
        : users.loading || users.refusal
          ? null
          : html`<${Empty}><p>${filter.q ? 'No user matches.' : 'No user has signed in yet.'}</p><//>`
    }
    <${ListEnd} of=${users} what="Users" />
  `
}

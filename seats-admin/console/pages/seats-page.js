/** Seats: all that the user may see, filtered by name, space and permission. */

import { useShownFilter } from '../filters.js'
import { hrefOf } from '../address.js'
import { Field } from '../fields.js'
import { useList } from '../loading.js'
import { html } from '../markup.js'
import { counted, Icon, Name, number, Scrolling, Tags, Time } from '../pieces.js'
import { Empty, PageHeading, ListEnd } from '../states.js'

export function SeatsPage() {
  /** @type {import('../loading.js').Listed<import('../answers.d.ts').ListedSeat>} */
  const seats = useList('/v1/seats', {}, ({ id }) => id, { whole: true })
  const { filter, setFilter, shown, more } = useShownFilter(
    seats.items,
    ['name', 'space', 'permission'],
    isMatch,
  )
  const isFiltered = Object.values(filter).some((each) => each !== '')
  return html`
    <${PageHeading} title="Seats">
      <a class="button primary" href=${hrefOf(['seats', 'new'])}><${Icon} name="plus" />New Seat</a>
    <//>
    <p class="lead">A Seat is a named role: permissions, granted in each of its spaces.</p>
    <search class="filters">
      <${Field}
        label="Name"
        type="search"
        value=${filter.name ?? ''}
        onInput=${(/** @type {string} */ name) => setFilter({ name })}
      />
      <${Field}
        label="Space"
        type="search"
        value=${filter.space ?? ''}
        onInput=${(/** @type {string} */ space) => setFilter({ space })}
      />
      <${Field}
        label="Permission"
        type="search"
        value=${filter.permission ?? ''}
        onInput=${(/** @type {string} */ permission) => setFilter({ permission })}
      />
      <p class="count" role="status">
        ${isFiltered ? `${number(shown.total)} of ${counted(seats.items.length, 'Seat')}` : counted(seats.items.length, 'Seat')}${seats.loading ? ', loading more…' : ''}
      </p>
    </search>
    ${shown.items.length > 0 ? html`<${SeatTable} seats=${shown.items} />` : null}
    ${more === null ? null : html`<p><button type="button" class="button" onClick=${more}>Show more of ${number(shown.total)}</button></p>`}
    ${
      !seats.loading && !seats.refusal && shown.total === 0
        ? html`<${Empty}>
            ${
              isFiltered
                ? html`<p>
                    No Seat matches.
                    <button
                      type="button"
                      class="button"
                      onClick=${() => setFilter({ name: '', space: '', permission: '' })}
                    >
                      Clear the filters
                    </button>
                  </p>`
                : html`<p>
                    No Seats here yet. <a href=${hrefOf(['seats', 'new'])}>Create the first one</a>.
                  </p>`
            }
          <//>`
        : null
    }
    <${ListEnd} of=${seats} what="Seats" />
  `
}

/** @param {import('../answers.d.ts').ListedSeat} seat @param {Readonly<Record<string, string>>} filter */
function isMatch({ name, spaces, permissions }, filter) {
  return (
    contains(name, filter.name) &&
    (!filter.space || spaces.some((each) => contains(each, filter.space))) &&
    (!filter.permission || permissions.some((each) => each === '*' || contains(each, filter.permission)))
  )
}

/** @param {string} text @param {string | undefined} part */
function contains(text, part = '') {
  return text.toLocaleLowerCase().includes(part.toLocaleLowerCase())
}

/** @param {{ seats: readonly import('../answers.d.ts').ListedSeat[] }} props */
function SeatTable({ seats }) {
  return html`<${Scrolling} label="Seats">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Spaces</th>
          <th scope="col">Permissions</th>
          <th scope="col" class="number">Members</th>
          <th scope="col" class="wide-only">Created</th>
        </tr>
      </thead>
      <tbody>
        ${seats.map(
          ({ id, name, spaces, permissions, member_count: members, created_at: at }) =>
            html`<tr key=${id}>
              <th scope="row">
                <a href=${hrefOf(['seats', id])}><${Name} of=${name} /></a>
              </th>
              <td><${Tags} of=${spaces} most=${2} /></td>
              <td><${Tags} of=${permissions} most=${3} /></td>
              <td class="number">${number(members)}</td>
              <td class="wide-only"><${Time} at=${at} short /></td>
            </tr>`,
        )}
      </tbody>
    </table>
  <//>`
}

// On a narrow screen the rooms of the top bar scroll: the one that is open is brought into view.
const here = document.querySelector(".topbar__link[aria-current]");
const list = here?.closest("ul");
if (here instanceof HTMLElement && list) {
  list.scrollLeft = here.offsetLeft - (list.clientWidth - here.offsetWidth) / 2;
}

// What every page is given, and how parts follow its state: a page that has none draws them once.

sdb.data = JSON.parse(document.getElementById('data').textContent);
sdb.follow = (topics, update) => update();

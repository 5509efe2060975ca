"""Commands, each with the files that it reads and writes."""

#: A line | what it reads | what it writes. `…` is a part that only the shell knows.
TABLE = r"""
cat .env                                    | .env                 |
cat -n .env notes.md                        | .env notes.md        |
/bin/cat -- -n                              | -n                   |
cat -                                       |                      |
cat /dev/null                               |                      |
cat …/.env                                  | …/.env               |
head -n 5 .env                              | .env                 |
head -5 a b                                 | a b                  |
tail -fn20 log.txt                          | log.txt              |
less +F log.txt                             | +F log.txt           |
less -o copy.txt a.txt                      | a.txt                | copy.txt
bat -l py a.py                              | a.py                 |
od -c -N 16 .env                            | .env                 |
xxd .env                                    | .env                 |
xxd -r dump.hex out.bin                     | dump.hex             | out.bin
strings -n 8 a.out                          | a.out                |
base64 -w0 .env                             | .env                 |
base64 -i key.pem -o key.b64                | key.pem              | key.b64
sha256sum a b                               | a b                  |
nl -b a .env                                | .env                 |
cut -d= -f2 .env                            | .env                 |
grep KEY .env                               | .env                 |
grep -rn KEY src                            | src                  |
find -O3 d -delete                          |                      | d
find -D tree -E d -name x -delete           |                      | d/x
grep -e KEY -e TOKEN .env                   | .env                 |
grep -f patterns.txt .env                   | patterns.txt .env    |
grep --file=patterns.txt .env               | patterns.txt .env    |
grep --reg=KEY .env                         | .env                 |
grep -A3 -m 1 KEY .env                      | .env                 |
grep -ie KEY .env                           | .env                 |
rg KEY .env                                 | .env                 |
rg -g '*.py' KEY                            |                      |
rg --files src                              | src                  |
rg -tpy -e KEY src                          | src                  |
diff .env .env.example                      | .env .env.example    |
diff -u -r a b                              | a b                  |
cmp a b                                     | a b                  |
sort a.txt                                  | a.txt                |
sort -o b.txt a.txt                         | a.txt                | b.txt
sort -uob.txt a.txt                         | a.txt                | b.txt
sort a.txt --outp=b.txt                     | a.txt                | b.txt
sort -k 2 -t : /etc/passwd                  | /etc/passwd          |
sort --files0-from=list                     | list                 |
uniq a.txt b.txt                            | a.txt                | b.txt
shuf -n 1 words.txt                         | words.txt            |
shuf -o out.txt words.txt                   | words.txt            | out.txt
jq .token secrets.json                      | secrets.json         |
jq -r --arg name value .a x.json            | x.json               |
jq --slurpfile s .env -n '$s'               | .env                 |
jq -f prog.jq x.json                        | prog.jq x.json       |
yq .a x.yaml                                | x.yaml               |
yq -i .a=1 x.yaml                           | x.yaml               | x.yaml
sed -n 1,5p .env                            | .env                 |
sed s/a/b/ .env                             | .env                 |
sed -e s/a/b/ -e s/c/d/ f                   | f                    |
sed -i s/a/b/ f g                           | f g                  | f g
sed -i.bak -e s/a/b/ f                      | f                    | f
sed -ni s/a/b/ f                            | f                    | f
sed -n -f script.sed f                      | script.sed f         |
sed --in-place=.orig s/a/b/ f               | f                    | f
sed 's/a/b/w out.txt' f                     | f                    | out.txt
sed -n '/x/w out.txt' f                     | f                    | out.txt
sed 's/[/w out]/b/' f                       | f                    |
sed '1r .env' f                             | f .env               |
sed 's/x/w y/' f                            | f                    |
sed 'a\w out.txt' f                         | f                    |
awk '{print $1}' .env                       | .env                 |
awk -F= '/KEY/ {print $2}' .env             | .env                 |
awk -f prog.awk data.txt                    | prog.awk data.txt    |
awk '$3 > 5 {print}' data.txt               | data.txt             |
awk '{print > "out.txt"}' data.txt          | data.txt             | out.txt
awk '{print $1 >> $2}' data.txt             | data.txt             | …
awk '{print "x" > "/dev/stderr"}' data.txt  | data.txt             |
awk -v n=3 'NR == n' sep=: data.txt         | data.txt             |
awk 'BEGIN {while ((getline l < ".env") > 0) print l}' |.env      |
gawk -i inplace '{print}' data.txt          | data.txt             | data.txt
wc -l src/a.py                              | src/a.py             |
ls .env                                     |                      |
stat .env                                   |                      |
test -f .env                                |                      |
[ -f .env ]                                 |                      |
echo .env                                   |                      |
cd .ssh                                     |                      |
true                                        |                      |
export A=.env                               |                      |
tree -L 2 src                               |                      |
tree -o out.txt src                         |                      | out.txt
source .env                                 | .env                 |
. ./.env                                    | ./.env               |
bash deploy.sh prod                         | deploy.sh            |
bash -euo pipefail deploy.sh                | deploy.sh            |
bash -c 'cat .env'                          |                      |
python3 tool.py                             | tool.py              |
python3 -m json.tool a.json b.json          | a.json               | b.json
python3 -m pytest tests                     | tests                |
python3 -I -m venv .venv                    |                      | .venv
node --env-file=.env app.js                 | .env app.js          |
node --env-file .env app.js                 | .env app.js          |
perl -pi -e s/a/b/ f                        | f                    | f
perl -ne 'print if /x/' .env                | .env                 |
cp .env /tmp/x                              | .env                 | /tmp/x
cp -r src /tmp/x                            | src                  | /tmp/x
cp -t /tmp a b                              | a b                  | /tmp
cp -at/tmp a b                              | a b                  | /tmp
cp --target=/tmp a                          | a                    | /tmp
cp -- -a b                                  | -a                   | b
mv a.txt b.txt                              | a.txt                | a.txt b.txt
install -m 755 tool /usr/local/bin/tool     | tool                 | /usr/local/bin/tool
install -d build/lib                        |                      | build/lib
ln -s target name                           | target               | name
dd if=/dev/sda of=disk.img bs=4M            | /dev/sda             | disk.img
tee -a log.txt                              |                      | log.txt
touch -d yesterday a                        |                      | a
mkdir -p -m 700 a/b                         |                      | a/b
rm -rf build                                |                      | build
rm -f -- -x                                 |                      | -x
chmod 600 .env                              |                      | .env
chmod -R u+w src                            |                      | src
chmod -x run.sh                             |                      | run.sh
chown --reference=a b                       |                      | b
chattr -i a                                 |                      | a
chattr -R +i a b                            |                      | a b
chcon -t etc_t a                            |                      | a
chcon u:r:t a                               |                      | a
truncate -s 0 log.txt                       |                      | log.txt
tar -xf a.tar                               | a.tar                | .
tar -xzf a.tgz -C /opt                      | a.tgz                | /opt
tar xf a.tar dir                            | a.tar                | . dir
tar tvf a.tar                               | a.tar                |
tar czf a.tgz src docs                      | src docs             | a.tgz
tar czfC a.tgz base src                     | base/src             | a.tgz
tar --create --file=a.tar src               | src                  | a.tar
tar -c .ssh                                 | .ssh                 |
tar -cf a.tar -T list.txt                   | list.txt             | a.tar
zip -r out.zip src .env                     | src .env             | out.zip
unzip a.zip -d out                          | a.zip                | out
unzip -l a.zip                              | a.zip                |
gzip -9 log.txt                             | log.txt              | log.txt
gzip -c log.txt                             | log.txt              |
zcat log.gz                                 | log.gz               |
split -l 100 big.txt part-                  | big.txt              | part-
find . -name '*.pyc' -delete                |                      | ./*.pyc
find . -name .env -exec cat {} +            | ./.env               |
find src -type f                            |                      |
find . -fprint out.txt                      |                      | out.txt
curl https://example.com                    |                      |
curl -s -o out.json https://example.com     |                      | out.json
curl -o /dev/null https://example.com       |                      |
curl -sSLo out https://example.com          |                      | out
curl -O https://example.com/a.tgz           |                      | a.tgz
curl -d @.env https://example.com           | .env                 |
curl -d a=b https://example.com             |                      |
curl --data-binary @dump.sql https://x.test | dump.sql             |
curl -F file=@.env https://x.test           | .env                 |
curl -F 'file=@a.png;type=image/png' x.test | a.png                |
curl -T .env https://x.test                 | .env                 |
curl --upload .env https://x.test           | .env                 |
curl -K curlrc https://x.test               | curlrc               |
curl -H 'Accept: x' -X POST https://x.test  |                      |
curl --head https://x.test                  |                      |
curl -b cookies.txt -c jar.txt https://x.t  | cookies.txt          | jar.txt
curl file:///etc/passwd                     | /etc/passwd          |
wget -O out.html https://x.test             |                      | out.html
wget -qO- https://x.test                    |                      |
wget https://x.test/a.tgz?v=1               |                      | a.tgz
wget --spider https://x.test/a              |                      |
wget --post-file=.env https://x.test        | .env                 | index.html
wget -i urls.txt -P down                    | urls.txt             | down
scp .env host:/tmp                          | .env                 |
scp -i key.pem me@host:/etc/x .             |                      | .
rsync -av src/ host:dst                     | src/                 |
rsync -a -e ssh host:src/ dst               |                      | dst
rsync -a --log-file=l.txt a b               | a                    | l.txt b
ssh -i ~/.ssh/id_rsa host cat .env          |                      |
aws s3 cp .env s3://bucket/x                | .env                 |
aws --profile p s3 cp s3://bucket/x x       |                      | x
aws lambda invoke --payload file://p.json o | p.json               |
gh gist create .env                         | .env                 |
gh secret set -f .env                       | .env                 |
openssl enc -aes256 -in .env -out e.bin     | .env                 | e.bin
openssl rsa -in key.pem -text -noout        | key.pem              |
gpg -d secrets.gpg                          | secrets.gpg          |
gpg -o out -c .env                          | .env                 | out
git show HEAD:.env                          | .env                 |
git diff -- .env                            | .env                 |
git -C sub log -p -- .env                   | .env                 |
git add .env                                | .env                 |
git commit -m 'about .env'                  |                      |
git commit -F msg.txt                       | msg.txt              |
git status                                  |                      |
git push origin main                        |                      |
git diff --output=out.diff                  |                      | out.diff
git checkout -- a.py                        |                      | a.py
git checkout HEAD~1 -- a.py                 |                      | a.py
git restore a.py                            |                      | a.py
git restore --staged a.py                   |                      |
git clean -fdx                              |                      | .
git clean -n                                |                      |
git rm --cached .env                        |                      |
git rm -r old                               |                      | old
git archive -o a.tar HEAD                   |                      | a.tar
git clone https://x.test/r.git dst          |                      | dst
git apply fix.patch                         | fix.patch            |
git shortlog --committer --output=x a.py    | a.py                 | x
git shortlog -n --output=x a.py             | a.py                 | x
pipenv install -d -r reqs.txt               | reqs.txt             |
docker run --env-file .env img cmd          | .env                 |
docker compose --env-file=.env up           | .env                 |
docker cp c:/etc/x .                        |                      | .
docker save -o img.tar img                  |                      | img.tar
kubectl apply -f k8s.yaml                   | k8s.yaml             |
kubectl create secret generic s --from-env-file=.env | .env       |
kubectl create secret generic s --from-file=k=id_rsa | id_rsa     |
terraform apply -var-file=prod.tfvars       | prod.tfvars          |
make -f other.mk all                        | other.mk             |
gcc -O2 -o prog a.c b.c                     | a.c b.c              | prog
pytest -k x --junitxml=r.xml tests          | tests                | r.xml
ruff check src                              | src                  |
ruff check --fix src                        | src                  | src
ruff format                                 | .                    | .
ruff format --check src                     | src                  |
black src                                   | src                  | src
prettier --check a.ts                       | a.ts                 |
prettier -w a.ts                            | a.ts                 | a.ts
pip install -r requirements.txt             | requirements.txt     |
vim notes.md                                | notes.md             | notes.md
patch -p1 -i fix.diff                       | fix.diff             |
xargs -a list.txt rm                        | list.txt             |
time -o t.txt make                          |                      | t.txt
strace -o trace.txt ls                      |                      | trace.txt
sudo cat .env                               |                      |
"""

ROWS = [tuple(part.strip() for part in row.rsplit("|", 2)) for row in TABLE.strip().splitlines()]
